package aggregate

// Changes describes how a snapshot differs from the previous one. Hours at or after Since may have changed for the
// stations that Changed marks. Condition is the SQL condition that selects these stations.
type Changes struct {
	Changed    []bool // by station; nil if there are no such stations
	Since      uint32 // Unix seconds
	Condition  string
	Added      []string // ids of new stations
	SamePlaces bool     // no station was added, removed or relocated
}
