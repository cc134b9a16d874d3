"""From bytes to records: readers, the mapping of columns to fields, the two passes over a dataset."""
