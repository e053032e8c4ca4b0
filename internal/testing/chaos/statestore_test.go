package chaos

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"vayu/dispatch/outbox"
	"vayu/internal/access"
	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/config"
	"vayu/internal/encryption"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// StateStore accesses the state store directly, so that cut links do not affect it.
type StateStore struct {
	db     *sqlstore.DB
	box    *encryption.Cipher
	events *outbox.Outbox
}

// OpenStateStore opens the store. It can be used while Run runs. Accounts waits until it is ready.
func OpenStateStore(dsn, key, dir string) (*StateStore, error) {
	log := slog.New(slog.DiscardHandler)
	db, err := sqlstore.Open(sqlstore.Config{DSN: config.DSN(dsn), Data: dir}, log, nil)
	if err != nil {
		return nil, err
	}
	box, err := encryption.Open(config.NewSecret(key), dir)
	if err != nil {
		return nil, err
	}
	events := outbox.New(outbox.Config{DB: db, Log: log})
	return &StateStore{db: db, box: box, events: events}, nil
}

// Run keeps the store open until ctx ends.
func (s *StateStore) Run(ctx context.Context) error { return s.db.Run(ctx) }

// Account is a client.
type Account struct{ ID, Key string }

// Plans of accounts.
const (
	Unlimited = "unlimited" // no limits
	Limited   = "free"      // a small monthly quota
)

// Quota returns the monthly quota of the plan Limited.
func Quota() int { return int(access.DefaultSettings().Plans[Limited]) }

// Accounts creates n accounts of a plan, each with a live key.
func (s *StateStore) Accounts(ctx context.Context, n int, plan string) ([]Account, error) {
	if err := s.db.Ready(ctx); err != nil {
		return nil, err
	}
	if err := s.box.Claim(ctx, s.db); err != nil {
		return nil, err
	}
	all := make([]Account, n)
	err := s.db.Update(ctx, func(tx *sqlstore.Tx) error {
		for i := range all {
			holder, _, err := account.Create(tx, access.DefaultSettings().Plans, fmt.Sprint("client-", plan, "-", i), plan, time.Now())
			if err != nil {
				return err
			}
			made, _, err := apikey.Create(tx, s.box, apikey.Spec{Account: holder.ID, World: schema.Live, Name: "load"}, time.Now())
			if err != nil {
				return err
			}
			all[i] = Account{ID: holder.ID, Key: made.Key}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("making the clients: %w", err)
	}
	return all, nil
}

// fire commits an event of an account, as a change of that account would.
func (s *StateStore) fire(ctx context.Context, account string) (id string, err error) {
	err = s.db.Update(ctx, func(tx *sqlstore.Tx) (err error) {
		id, err = s.events.Append(tx, account, schema.Live, fired, schema.TestEventData(fired))
		return err
	})
	return id, err
}

// fired is the type of the committed events.
const fired = schema.EventPaymentSucceeded

// Events returns the ids of all events committed for accounts, and their owners.
func (s *StateStore) Events(ctx context.Context) (map[string]string, error) {
	type row struct{ id, account string }
	all, err := sqlstore.All(s.db.View(ctx), func(r sqlstore.Scanner) (e row, err error) {
		err = r.Scan(&e.id, &e.account)
		return e, err
	}, "SELECT id, account_id FROM event WHERE mode = 'live' AND type = $1", string(fired))
	if err != nil {
		return nil, fmt.Errorf("listing events: %w", err)
	}
	found := make(map[string]string, len(all))
	for _, e := range all {
		found[e.id] = e.account
	}
	return found, nil
}

// Usage returns the number of counted air requests, of all calls counted towards quotas, and of the
// quota used.
func (s *StateStore) Usage(ctx context.Context) (calls, counted, quota int64, err error) {
	view := s.db.View(ctx)
	err = view.QueryRow("SELECT coalesce(sum(CASE WHEN operation = 'GET /v1/aqi' THEN calls ELSE 0 END), 0), coalesce(sum(counted), 0) FROM usage_day WHERE mode = 'live'").Scan(&calls, &counted)
	if err == nil {
		err = view.QueryRow("SELECT coalesce(sum(used), 0) FROM quota_period").Scan(&quota)
	}
	if err != nil {
		return 0, 0, 0, fmt.Errorf("reading what was counted: %w", err)
	}
	return calls, counted, quota, nil
}
