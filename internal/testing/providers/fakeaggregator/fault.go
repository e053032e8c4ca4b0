package fakeaggregator

import "vayu/internal/testing/providers"

// The faults of an order. With LateFailure, Refuse and [providers.DropBefore], the order is not carried out.
const (
	Duplicate   providers.Fault = "duplicate"    // success, in the reply and in two callbacks
	Late        providers.Fault = "late"         // pending, and success after Config.Late
	LateFailure providers.Fault = "late_failure" // pending, and failure after Config.Late
	LieFailed   providers.Fault = "lie_failed"   // a false failure in the reply; enquiries return success
	LieForever  providers.Fault = "lie_forever"  // always pending, although the order is carried out
	Refuse      providers.Fault = "refuse"       // the order fails: the number has no subscriber
)

// Faults lists all faults except None.
var Faults = []providers.Fault{
	providers.DropBefore, providers.Drop, providers.Delay, Duplicate, Late, LateFailure, LieFailed, LieForever,
	providers.Page, providers.Broken, providers.Flood, Refuse,
}
