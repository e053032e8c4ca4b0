// Package account stores accounts: their plans, allow-lists and name tolerances.
package account

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/internal/access/audit"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Record is an account as stored.
type Record struct {
	ID        string
	Name      string
	Plan      string
	AllowList []string // CIDRs; empty for every address
	// NameTolerance applies to bank verifications that set no tolerance. It is the least score, 0 to 100, with which a
	// name passes. If it is NULL, the service's default applies.
	NameTolerance sql.NullInt64
	CreatedAt     time.Time
}

// Lock makes other changes of accounts and keys wait until tx ends. With this lock, a transaction can check
// that an account does not exist and then create it.
func Lock(tx *sqlstore.Tx) error {
	if _, err := tx.Exec("UPDATE access_revision SET n = n WHERE id = 1"); err != nil {
		return fmt.Errorf("locking accounts and keys: %w", err)
	}
	return nil
}

// NextRevision returns the next revision, for a change of table account or api_key. It locks the revision counter until
// the transaction ends. Therefore revisions become visible in order, and changes of keys are serialized. The error is
// an error of the store.
func NextRevision(tx *sqlstore.Tx) (revision int64, err error) {
	err = tx.QueryRow("UPDATE access_revision SET n = n + 1 WHERE id = 1 RETURNING n").Scan(&revision)
	if err != nil {
		return 0, fmt.Errorf("incrementing the access revision: %w", err)
	}
	return revision, nil
}

// Create creates an account with one of the configured plans. The error is a *schema.Problem if the name is
// invalid or in use, or if the plan is not configured.
func Create(tx *sqlstore.Tx, plans map[string]int64, name, plan string, now time.Time) (Record, audit.Entry, error) {
	var f schema.RequestErrors
	checkName(&f, "name", name)
	checkPlan(&f, "plan", plans, plan)
	if err := f.Problem(); err != nil {
		return Record{}, audit.Entry{}, err
	}
	revision, err := NextRevision(tx)
	if err != nil {
		return Record{}, audit.Entry{}, err
	}
	h := Record{ID: "acc_" + ulid.MustNewDefault(now).String(), Name: name, Plan: plan, AllowList: []string{}, CreatedAt: now}
	n, err := tx.Exec(`
		INSERT INTO account (id, name, plan, allow_list, created_at, revision) VALUES ($1, $2, $3, '', $4, $5)
		ON CONFLICT (name) DO NOTHING`, h.ID, name, plan, now.UnixMicro(), revision)
	if err != nil {
		return Record{}, audit.Entry{}, fmt.Errorf("creating the account %s: %w", name, err)
	}
	if n == 0 {
		return Record{}, audit.Entry{}, schema.NewProblem(schema.InvalidRequest, "name", "There is an account of that name already.")
	}
	return h, audit.Entry{
		Account: h.ID, Action: "account.create", Subject: h.ID,
		Detail: map[string]any{"name": name, "plan": plan},
	}, nil
}

const selectAccount = "SELECT id, name, plan, allow_list, name_tolerance, created_at FROM account"

func scanRecord(row sqlstore.Scanner) (Record, error) {
	var h Record
	var list string
	var at int64
	err := row.Scan(&h.ID, &h.Name, &h.Plan, &list, &h.NameTolerance, &at)
	h.AllowList, h.CreatedAt = strings.Fields(list), time.UnixMicro(at).UTC()
	return h, err
}

// ByName returns the account with a name. If there is none, the error is a *schema.Problem with the code not_found.
func ByName(q sqlstore.Querier, name string) (Record, error) {
	return oneRecord(q.QueryRow(selectAccount+" WHERE name = $1", name))
}

// ByID returns the account with an id. If there is none, it returns the same error as ByName.
func ByID(q sqlstore.Querier, id string) (Record, error) {
	return oneRecord(q.QueryRow(selectAccount+" WHERE id = $1", id))
}

func oneRecord(row sqlstore.Row) (Record, error) {
	h, err := scanRecord(row)
	if errors.Is(err, sql.ErrNoRows) {
		return Record{}, schema.NewProblem(schema.NotFound, "", "There is no such account.")
	}
	if err != nil {
		return Record{}, fmt.Errorf("reading an account: %w", err)
	}
	return h, nil
}

// List returns all accounts, ordered by name.
func List(q sqlstore.Querier) ([]Record, error) {
	return sqlstore.All(q, scanRecord, selectAccount+" ORDER BY name")
}

// SetPlan changes the plan of an account. The error is a *schema.Problem if the plan is not configured.
func SetPlan(tx *sqlstore.Tx, plans map[string]int64, id, plan string) (Record, audit.Entry, error) {
	var f schema.RequestErrors
	checkPlan(&f, "plan", plans, plan)
	if err := f.Problem(); err != nil {
		return Record{}, audit.Entry{}, err
	}
	return set(tx, id, "plan", plan, "account.plan", map[string]any{"plan": plan})
}

// SetAllowList sets the networks or addresses from which the account's keys may be used; an empty
// list allows every address.
func SetAllowList(tx *sqlstore.Tx, id string, list []string) (Record, audit.Entry, error) {
	var f schema.RequestErrors
	networks := ParseAllowList(&f, "allow_list", list)
	if err := f.Problem(); err != nil {
		return Record{}, audit.Entry{}, err
	}
	return set(tx, id, "allow_list", JoinNetworks(networks), "account.allow_list", map[string]any{"allow_list": NetworkTexts(networks)})
}

// strictest is the largest value of a name tolerance (the least score that passes). Only identical names score 100.
const strictest = 100

// SetNameTolerance sets the least score, from 0 to 100, with which a name passes bank verification. A NULL
// score selects the service's default.
func SetNameTolerance(tx *sqlstore.Tx, id string, score sql.NullInt64) (Record, audit.Entry, error) {
	if score.Valid && (score.Int64 < 0 || score.Int64 > strictest) {
		return Record{}, audit.Entry{}, schema.NewProblem(schema.InvalidRequest, "name_tolerance", "A tolerance is a whole number from 0 to 100.")
	}
	detail := map[string]any{"name_tolerance": nil}
	if score.Valid {
		detail["name_tolerance"] = score.Int64
	}
	return set(tx, id, "name_tolerance", score, "account.name_tolerance", detail)
}

// set changes one column of an account. If the column already has that value, the returned audit entry is empty.
func set(tx *sqlstore.Tx, id, column string, value any, action string, detail map[string]any) (Record, audit.Entry, error) {
	revision, err := NextRevision(tx)
	if err != nil {
		return Record{}, audit.Entry{}, err
	}
	n, err := tx.Exec("UPDATE account SET "+column+" = $2, revision = $3 WHERE id = $1 AND "+column+" IS DISTINCT FROM $2", id, value, revision)
	if err != nil {
		return Record{}, audit.Entry{}, fmt.Errorf("changing the %s of an account: %w", column, err)
	}
	h, err := ByID(tx, id)
	if err != nil || n == 0 {
		return h, audit.Entry{}, err
	}
	return h, audit.Entry{Account: id, Action: action, Subject: id, Detail: detail}, nil
}
