package aggregate

import "cmp"

// Publication is the position of a snapshot in the order of all snapshots of a world, from all instances. Two snapshots
// of the same roll-ups with the same current hours have the same Publication.
type Publication struct {
	RolledUp int64  // end of the latest roll-up, Unix milliseconds
	Rollups  int64  // number of roll-ups
	Promoted uint32 // newest hour that ended HourWait or longer before the snapshot, Unix seconds; 0 for none
}

// Compare returns a negative number if p is older than `other`, and a positive number if p is newer.
func (p Publication) Compare(other Publication) int {
	return cmp.Or(cmp.Compare(p.RolledUp, other.RolledUp), cmp.Compare(p.Rollups, other.Rollups), cmp.Compare(p.Promoted, other.Promoted))
}
