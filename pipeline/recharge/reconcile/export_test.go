package reconcile

// Queries whose plans are tested.
var (
	ByReference   = selectByReference.ForRows(16)
	ByID          = selectByID.ForRows(16)
	SelectAbsent  = selectAbsent
	SelectNext    = selectProvider
	SelectPending = selectPending
	SelectAlarms  = selectAlarms
)
