package gazetteer

// Cities returns every city of the table.
func Cities() []City { return load().cities }
