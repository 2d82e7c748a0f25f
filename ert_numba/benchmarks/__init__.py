"""The suite that ships with the package, as pytest-benchmark benchmarks, and a fixture for users' own kernels.

    pytest --pyargs ert_numba.benchmarks --benchmark-save=driver-580
    python -m ert_numba bench --save driver-580

The modules that pytest imports at every start (``plugin``) load nothing heavy.
"""
