package query

// changes are the differences of a snapshot from the previous one. Hours at or after
// since may have changed at the stations that changed marks and the SQL condition
// selects.
type changes struct {
	changed    []bool // by station; nil if there are no such stations
	since      uint32 // Unix seconds
	condition  string
	added      []string // ids of new stations
	samePlaces bool     // no station was added, removed or relocated
}
