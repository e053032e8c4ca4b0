package delivery

// The statements whose plans a test looks at.
const (
	SelectDue    = selectDue
	SelectBefore = selectBefore
	SelectAfter  = selectAfter
	SelectLanes  = selectLanes
)

// RecordOutcomes is for a full group.
func RecordOutcomes() string { return recordOutcomes[groupForms-1] }

// ReleaseRows is for a full group.
func ReleaseRows() string { return releaseRows[groupForms-1] }
