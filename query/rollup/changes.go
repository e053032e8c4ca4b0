package rollup

// Changes are the differences of a snapshot from the previous one. Hours at or after
// since may have changed at the stations that changed marks and the SQL condition
// selects.
type Changes struct {
	Changed    []bool // by station; nil if there are no such stations
	Since      uint32 // Unix seconds
	Condition  string
	Added      []string // ids of new stations
	SamePlaces bool     // no station was added, removed or relocated
}
