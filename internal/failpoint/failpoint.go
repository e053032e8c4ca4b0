// Package failpoint names positions in the code at which a kill of the process could lose or duplicate
// something. Point is a no-op, unless the program is built with the tag crash. The kill test builds the
// program with that tag, and kills the process at each position.
package failpoint

// The failpoints of recharges, refunds, verifications and batches.
const (
	RechargeCreated  = "recharge.created"  // recharge committed with its amount reserved, order not sent
	RechargeSending  = "recharge.sending"  // order about to be sent
	RechargeAnswered = "recharge.answered" // the order's call has ended, its result is not recorded
	RechargeSettled  = "recharge.settled"  // the outcome is committed, no event or reply is sent
	RechargeClaimed  = "recharge.claimed"  // recharges leased by a claim, no call is made
	RechargeEnquired = "recharge.enquired" // the enquiry has ended, its result is not recorded
	RefundWanted     = "refund.wanted"     // refund committed, not yet requested from the provider
	RefundAnswered   = "refund.answered"   // the refund's call has ended, its result is not recorded
	VerifyCreated    = "verify.created"    // verification committed, no bank was called
	VerifySending    = "verify.sending"    // a deposit is about to be requested
	VerifyAnswered   = "verify.answered"   // a deposit or lookup has ended, its result is not recorded
	VerifySettled    = "verify.settled"    // the result is committed, no event or reply is sent
	VerifyClaimed    = "verify.claimed"    // verifications leased by a claim, no call is made
	VerifyEnquired   = "verify.enquired"   // the enquiry has ended, its result is not recorded
	BatchAccepted    = "batch.accepted"    // batch committed, no reply is sent
	BatchClaimed     = "batch.claimed"     // a chunk (some records of the batch) is leased
	BatchBegun       = "batch.begun"       // an attempt to start a record has ended
	BatchDone        = "batch.done"        // all records of a chunk are started, the chunk still exists
)
