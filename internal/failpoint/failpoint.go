// Package failpoint names positions in the code at which a kill of the process could lose or duplicate
// something. Point is a no-op, unless the program is built with the tag crash. The kill test builds the
// program with that tag, and kills the process at each position.
package failpoint

// The failpoints of recharges, refunds, verifications and batches.
const (
	RechargeCreated  = "recharge.created"  // recharge committed with its amount reserved, order not sent
	RechargeSending  = "recharge.sending"  // order about to be sent
	RechargeAnswered = "recharge.answered" // the provider has answered, nothing is recorded
	RechargeSettled  = "recharge.settled"  // the outcome is committed, no event or reply is sent
	RechargeClaimed  = "recharge.claimed"  // recharge leased for a status enquiry
	RechargeEnquired = "recharge.enquired" // the enquiry is answered, nothing is recorded
	RefundWanted     = "refund.wanted"     // refund committed, not yet requested from the provider
	RefundAnswered   = "refund.answered"   // the provider has refunded, nothing is recorded
	VerifyCreated    = "verify.created"    // verification committed, no bank was called
	VerifySending    = "verify.sending"    // a deposit is about to be requested
	VerifyAnswered   = "verify.answered"   // the bank has answered, nothing is recorded
	VerifySettled    = "verify.settled"    // the result is committed, no event or reply is sent
	VerifyClaimed    = "verify.claimed"    // verification leased for a status enquiry
	VerifyEnquired   = "verify.enquired"   // the enquiry is answered, nothing is recorded
	BatchAccepted    = "batch.accepted"    // batch committed, no reply is sent
	BatchClaimed     = "batch.claimed"     // a chunk (some records of the batch) is leased
	BatchBegun       = "batch.begun"       // a record has become a recharge
	BatchDone        = "batch.done"        // all records of a chunk are started, the chunk still exists
)
