// Package failpoint names the moments at which a process that is killed could lose or
// double something. In the program they cost nothing: Point does something only when
// it is built with the tag crash, as the test does that kills it at each of them.
package failpoint

// The points, in the order in which a recharge or a verification passes them.
const (
	RechargeCreated  = "recharge.created"  // committed with its amount set aside, not sent
	RechargeSending  = "recharge.sending"  // about to be sent
	RechargeAnswered = "recharge.answered" // the provider has answered, nothing is recorded
	RechargeSettled  = "recharge.settled"  // the outcome is committed, nobody was told
	RechargeClaimed  = "recharge.claimed"  // leased to be looked at again
	RechargeEnquired = "recharge.enquired" // the provider has answered an enquiry, nothing is recorded
	RefundWanted     = "refund.wanted"     // committed, the provider was not asked
	RefundAnswered   = "refund.answered"   // the provider has taken it back, nothing is recorded
	VerifyCreated    = "verify.created"    // committed, no bank was asked
	VerifySending    = "verify.sending"    // a deposit is about to be asked for
	VerifyAnswered   = "verify.answered"   // the bank has answered, nothing is recorded
	VerifySettled    = "verify.settled"    // what came of it is committed, nobody was told
	VerifyClaimed    = "verify.claimed"    // leased to be looked at again
	VerifyEnquired   = "verify.enquired"   // the bank has answered an enquiry, nothing is recorded
	BatchAccepted    = "batch.accepted"    // committed, not replied
	BatchClaimed     = "batch.claimed"     // a chunk is leased
	BatchBegun       = "batch.begun"       // a record has become a recharge
	BatchDone        = "batch.done"        // all records of a chunk are begun, the chunk is still there
)

// The points of each kind of transaction.
var (
	OfRecharges = []string{
		RechargeCreated, RechargeSending, RechargeAnswered, RechargeSettled, RechargeClaimed, RechargeEnquired,
		RefundWanted, RefundAnswered, BatchAccepted, BatchClaimed, BatchBegun, BatchDone,
	}
	OfVerifications = []string{
		VerifyCreated, VerifySending, VerifyAnswered, VerifySettled, VerifyClaimed, VerifyEnquired,
		BatchAccepted, BatchClaimed, BatchBegun, BatchDone,
	}
)
