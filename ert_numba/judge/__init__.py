"""From two sets of process starts to verdicts that hold against noise. Pure: records in, records and text out."""
