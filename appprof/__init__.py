"""From a profile to a hierarchical roofline that says what to do."""
