package wallet

import (
	"context"
	"fmt"
	"strings"
	"time"

	"vayu/internal/access/audit"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Settle decides a pending payment and returns it. It writes postings, event and audit row in one transaction. `note`
// is the reference of the decision, such as a bank's; it may be empty only if the payment failed. A note can credit
// one payment only; in the sandbox, one payment of each account. Notes are compared without case and blanks. `by` is
// the actor in the audit log. Settle returns an error if the payment does not exist or is decided already, or if the
// note has credited another payment.
func (s *Service) Settle(ctx context.Context, id string, succeeded bool, note, by string) (*Payment, error) {
	var p *Payment
	err := s.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
		p, err = s.settle(tx, s.Now(), id, decision{succeeded, note}, by)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.count(p)
	return p, nil
}

// Credit creates a payment for money that has already arrived, for example by a bank transfer. It then settles the
// payment as successful, like [Service.Settle]. For an invalid amount, the error is a *schema.Problem.
func (s *Service) Credit(ctx context.Context, o schema.Owner, amount schema.Paise, note, by string) (*Payment, error) {
	if _, err := ParseAmount(amount.String()); err != nil {
		return nil, err
	}
	var p *Payment
	err := s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		now := s.Now()
		id, err := insertPending(tx, now, request{owner: o, method: schema.BankTransfer, amount: amount})
		if err != nil {
			return err
		}
		p, err = s.settle(tx, now, id, decision{true, note}, by)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.count(p)
	return p, nil
}

func (s *Service) settle(tx *sqlstore.Tx, now time.Time, id string, v decision, by string) (*Payment, error) {
	if v.note != "" && !schema.IsRef(v.note) {
		return nil, schema.NewProblem(schema.InvalidRequest, "note", "A note has 1 to 255 printable characters.")
	}
	if v.succeeded && foldReference(v.note) == "" {
		return nil, schema.NewProblem(schema.InvalidRequest, "note",
			"A successful payment needs the reference of its transfer (UTR) or a similar note, so that it is credited once.")
	}
	p, err := s.decide(tx, now, id, v)
	if err != nil {
		return nil, err
	}
	if p == nil {
		if p, err = byID(tx, id); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("payment %s is %s already, since %s", p.ID, p.State, schema.FormatTime(p.CompletedAt))
	}
	if v.succeeded {
		if err := claimReference(tx, p); err != nil {
			return nil, err
		}
	}
	e := p.auditEntry()
	e.Actor = by
	return p, audit.Append(tx, now, e)
}

const (
	// claimTransfer records a bank reference. On PostgreSQL it waits for any concurrent transaction
	// that records the same reference.
	claimTransfer  = "INSERT INTO bank_transfer (scope, reference, payment_id) VALUES ($1, $2, $3) ON CONFLICT (scope, reference) DO NOTHING"
	selectTransfer = selectPayment + " WHERE id = (SELECT payment_id FROM bank_transfer WHERE scope = $1 AND reference = $2)"
)

// claimReference records the bank reference of a credited payment. It returns an error if the reference has credited
// another payment. In the sandbox, only payments of one account are compared.
func claimReference(tx *sqlstore.Tx, p *Payment) error {
	scope := p.Owner.World.String()
	if p.Owner.World == schema.Sandbox {
		scope = p.Owner.Account
	}
	reference := foldReference(p.Note)
	n, err := tx.Exec(claimTransfer, scope, reference, p.ID)
	if err != nil {
		return fmt.Errorf("claiming the bank reference of %s: %w", p.ID, err)
	}
	if n > 0 {
		return nil
	}
	before, err := scanPayment(tx.QueryRow(selectTransfer, scope, reference))
	if err != nil {
		return fmt.Errorf("reading the payment that has the bank reference of %s: %w", p.ID, err)
	}
	holder := "The account"
	if before.Owner.Account != p.Owner.Account {
		holder = "Another account"
	}
	return schema.NewProblem(schema.InvalidRequest, "note", fmt.Sprintf(
		"%s was already credited with the note %q: %s, %s on %s. If this is the same transfer, the money is in the wallet: "+
			"fail the payment that waits for it. If it is another transfer, use the reference of that transfer.",
		holder, before.Note, before.ID, before.Amount.Rupees(), schema.FormatTime(before.CompletedAt)))
}

// foldReference returns a bank reference in upper case and without blanks. References that differ only in case and
// blanks are the same. foldReference returns "" for a text of blanks.
func foldReference(note string) string {
	return strings.ToUpper(strings.Join(strings.Fields(note), ""))
}

// Pending returns at most `limit` payments of all accounts that are not decided yet, the oldest first.
func Pending(q sqlstore.Querier, limit int) ([]*Payment, error) {
	all, err := sqlstore.All(q, scanPayment, selectPayment+" WHERE state = 'pending' ORDER BY id LIMIT $1", limit)
	if err != nil {
		return nil, fmt.Errorf("listing pending payments: %w", err)
	}
	return all, nil
}
