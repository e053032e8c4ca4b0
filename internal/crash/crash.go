// Package crash names the moments at which a process that is killed could lose or
// double something. In the program they cost nothing: Point does something only when
// it is built with the tag crash, as the test does that kills it at each of them.
package crash

// The points, in the order in which a recharge passes them.
const (
	RechargeCreated  = "recharge.created"  // committed with its amount set aside, not sent
	RechargeSending  = "recharge.sending"  // about to be sent
	RechargeAnswered = "recharge.answered" // the provider has answered, nothing is recorded
	RechargeSettled  = "recharge.settled"  // the outcome is committed, nobody was told
	RechargeClaimed  = "recharge.claimed"  // leased to be looked at again
	RechargeEnquired = "recharge.enquired" // the provider has answered an enquiry, nothing is recorded
	RefundWanted     = "refund.wanted"     // committed, the provider was not asked
	RefundAnswered   = "refund.answered"   // the provider has taken it back, nothing is recorded
	BatchAccepted    = "batch.accepted"    // committed, not replied
	BatchClaimed     = "batch.claimed"     // a chunk is leased
	BatchBegun       = "batch.begun"       // a record has become a recharge
	BatchDone        = "batch.done"        // all records of a chunk are begun, the chunk is still there
)

// Points is every point.
var Points = []string{
	RechargeCreated, RechargeSending, RechargeAnswered, RechargeSettled, RechargeClaimed, RechargeEnquired,
	RefundWanted, RefundAnswered, BatchAccepted, BatchClaimed, BatchBegun, BatchDone,
}
