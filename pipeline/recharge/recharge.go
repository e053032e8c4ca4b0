// Package recharge tops up mobiles and DTH boxes. Money moves once, whatever
// operators do: they time out, answer late, twice or wrongly. A recharge is on disk
// with its amount set aside before an operator hears of it, is asked about before it
// is ever sent again, and changes its state by compare-and-set together with its
// postings, its event and its row of the audit log.
package recharge

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/seal"
	"vayu/internal/state"
	"vayu/schema"
)

// Config is what a Service is made of.
type Config struct {
	DB     *state.DB
	Box    *seal.Box // seals cursors
	Events Events
	// Connections are the providers of both worlds.
	Connections []Connection
	// BatchShare is how many records of batches may be under way at once.
	BatchShare int
	Log        *slog.Logger          // nil for none
	Metrics    prometheus.Registerer // nil for none
	// Now is the clock; nil for time.Now.
	Now func() time.Time
}

// Events takes events to be told to an account's webhooks, in the transaction of
// the change that they are about.
type Events interface {
	Append(tx *state.Tx, account string, world schema.World, event schema.EventType, data any) (id string, err error)
}

// Service carries out recharges. Handlers may be called once its store is ready;
// what is pending moves on while it runs.
type Service struct {
	Config
}

// New returns a service in which nothing moves until Run. It fails when a metric is
// registered already, or two connections of a world have one name.
func New(c Config) (*Service, error) {
	panic("not written yet")
}

// Run sends what is due, enquires about what is pending, and asks for refunds that
// were wanted, until ctx ends; then it waits for the calls that are under way.
func (s *Service) Run(ctx context.Context) error {
	panic("not written yet")
}

// Request is one recharge as it is asked for: its fields are checked, and no store or
// provider was asked yet.
type Request struct {
	Owner  schema.Owner
	RefID  string
	Type   schema.RechargeType
	Number string // ten digits, or the id of a DTH subscriber; as it came when it is not Valid
	Valid  bool   // false: it cannot be anybody's, and the recharge fails with invalid_number
	Asked  string // canonical name of the operator; empty for auto
	Amount schema.Paise
	By     Who
	// Item is what it is of a batch; nil for none.
	Item *Place
}

// Place is a record of a batch.
type Place struct {
	Batch string
	Index int
}

// Record is a recharge as it is in the store.
type Record struct {
	ID           string
	Owner        schema.Owner
	RefID        string
	State        schema.RechargeState
	Type         schema.RechargeType
	Number       string
	Asked        string
	Operator     string
	Circle       string
	Detection    string // lookup, series or ""
	Amount       schema.Paise
	Provider     string
	Reference    string
	ProviderRef  string
	Sent         bool
	SentAt       time.Time // zero for never
	Tries        int
	ToldPending  bool
	ErrorCode    schema.Code
	ErrorMessage string
	Alarm        string
	RefundID     string
	RefundReason string
	Batch        Place // Batch is "" for none
	CreatedAt    time.Time
	FinishedAt   time.Time // zero while pending
	RefundedAt   time.Time // zero unless refunded
}

// Do makes a recharge of a request and waits for its outcome, for so long: what it
// returns may be pending. Replayed says that the ref_id was used before for the same
// thing; for another thing the error is duplicate_ref_id. Other refusals after which
// nothing is recorded are *schema.Problem too. A request that is an item of a batch
// is refused as duplicate_ref_id in both cases, unless the item itself has made it.
func (s *Service) Do(ctx context.Context, r Request, wait time.Duration) (rec Record, replayed bool, err error) {
	panic("not written yet")
}

// Settle acts on a provider's word on a recharge that came by itself, or in a file:
// by compare-and-set, so that repeating it changes nothing. What contradicts an
// outcome that is final raises an alarm and changes no state. By is who says so, for
// the audit log. It is not_found for a reference that nobody has.
func (s *Service) Settle(ctx context.Context, world schema.World, provider, reference string, a Answer, by string) (Record, error) {
	panic("not written yet")
}

// Refund asks the provider to take a recharge back that has gone through, and gives
// its amount to the account when that is certain: at once, or later. Asked again it
// returns how it stands. A *schema.Problem says why it cannot be.
func (s *Service) Refund(ctx context.Context, o schema.Owner, id, reason string, by Who) (Record, error) {
	panic("not written yet")
}

// Who asked, for the audit log.
type Who struct{ Key, Request, Client string }
