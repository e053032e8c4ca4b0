package aggregate

import "cmp"

// Publication orders the snapshots of a world, also those of different instances. Two snapshots of the same roll-ups
// with the same current hours have the same Publication.
type Publication struct {
	RolledUp int64  // end of the latest roll-up, Unix milliseconds
	Rollups  int64  // number of roll-ups
	Promoted uint32 // newest hour that is current because of the time, in Unix seconds; 0 for none
}

// Compare returns a negative number if p is older than `other`, and a positive number if p is newer.
func (p Publication) Compare(other Publication) int {
	return cmp.Or(cmp.Compare(p.RolledUp, other.RolledUp), cmp.Compare(p.Rollups, other.Rollups), cmp.Compare(p.Promoted, other.Promoted))
}
