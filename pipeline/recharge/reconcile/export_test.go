package reconcile

// Questions whose plans are tested.
var (
	ByReference   = selectByReference.Of(16)
	ByID          = selectByID.Of(16)
	SelectAbsent  = selectAbsent
	SelectNext    = selectProvider
	SelectPending = selectPending
	SelectAlarms  = selectAlarms
)
