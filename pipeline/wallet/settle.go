package wallet

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"vayu/internal/account"
	"vayu/internal/state"
	"vayu/schema"
)

// Settle decides a payment that is pending, in one transaction with what that does
// to the books, its event and its row of the audit log, and returns it as it is
// then. The note is of who decides, such as a bank's reference; only of one that
// failed it may be empty: the note is what keeps the same money from coming twice.
// By says for the audit log who that is. It fails when there is no such payment, when
// it is decided already, or when the note stands at another that went through.
func (s *Service) Settle(ctx context.Context, id string, succeeded bool, note, by string) (*Payment, error) {
	var p *Payment
	err := s.DB.Update(ctx, func(tx *state.Tx) (err error) {
		p, err = s.settle(tx, s.Now(), id, verdict{succeeded, note}, by)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.metrics.payment(p)
	return p, nil
}

// Credit makes a payment that has come already, as by a bank transfer, and decides
// it as [Service.Settle] does. The error is a *schema.Problem for an amount that
// cannot be.
func (s *Service) Credit(ctx context.Context, o schema.Owner, amount schema.Paise, note, by string) (*Payment, error) {
	if _, err := ParseAmount(amount.String()); err != nil {
		return nil, err
	}
	var p *Payment
	err := s.DB.Update(ctx, func(tx *state.Tx) error {
		now := s.Now()
		id, err := begin(tx, now, request{owner: o, method: schema.BankTransfer, amount: amount})
		if err != nil {
			return err
		}
		p, err = s.settle(tx, now, id, verdict{true, note}, by)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.metrics.payment(p)
	return p, nil
}

func (s *Service) settle(tx *state.Tx, now time.Time, id string, v verdict, by string) (*Payment, error) {
	if v.note != "" && !schema.IsRef(v.note) {
		return nil, schema.Refuse(schema.InvalidRequest, "note", "A note has 1 to 255 printable characters.")
	}
	if v.note == "" && v.succeeded {
		return nil, schema.Refuse(schema.InvalidRequest, "note",
			"Money that came needs the bank's reference (UTR) or the like, by which nobody can put it into the wallet a second time.")
	}
	p, err := s.decide(tx, now, id, v)
	if err != nil {
		return nil, err
	}
	if p == nil {
		if p, err = byID(tx, id); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("payment %s is %s already, since %s", p.ID, p.State, instant(p.CompletedAt))
	}
	if v.succeeded {
		if err := unused(tx, p); err != nil {
			return nil, err
		}
	}
	e := p.entry()
	e.Actor = by
	return p, account.Audit(tx, now, e)
}

// unused refuses a bank's reference under which the account has got money before:
// one transfer is one payment. It comes after the wallet has changed, which others
// of the account then wait for.
func unused(tx *state.Tx, p *Payment) error {
	before, err := scanPayment(tx.QueryRow(selectPayment+" WHERE account_id = $1 AND mode = $2 AND state = 'success' AND note = $3 AND id <> $4 LIMIT 1",
		p.Owner.Account, p.Owner.World.String(), p.Note, p.ID))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("looking for payments with the note of %s: %w", p.ID, err)
	}
	return schema.Refuse(schema.InvalidRequest, "note", fmt.Sprintf(
		"The account has got money under the note %q before: %s, %s on %s. If this is the same money, it is in the wallet, and a payment that waits for it is to be failed; "+
			"if it is other money, give the reference of its own transfer.",
		p.Note, before.ID, before.Amount.Rupees(), instant(before.CompletedAt)))
}

// Pending returns the payments that nobody has decided, the oldest first, at most
// as many as limit.
func Pending(q state.Querier, limit int) ([]*Payment, error) {
	all, err := state.All(q, scanPayment, selectPayment+" WHERE state = 'pending' ORDER BY id LIMIT $1", limit)
	if err != nil {
		return nil, fmt.Errorf("listing pending payments: %w", err)
	}
	return all, nil
}
