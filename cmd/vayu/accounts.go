package main

import (
	"fmt"
	"time"

	"vayu/internal/access"
	"vayu/internal/encryption"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Name and plan of the bootstrap account, the first one of an empty store.
const (
	defaultAccount = "default"
	defaultPlan    = "free"
)

// commandActor is the actor in audit rows about changes by the command line.
const commandActor = "command"

// appendAudit appends the entry of a change to the audit log, unless err is set. A change without an effect has
// an empty entry, which is not appended.
func appendAudit(tx *sqlstore.Tx, e access.Entry, err error) error {
	if err != nil || e.Action == "" {
		return err
	}
	e.Actor = commandActor
	return access.Audit(tx, time.Now(), e)
}

// createAccount creates an account and its audit row.
func createAccount(tx *sqlstore.Tx, plans map[string]int64, name, plan string) (access.AccountRecord, error) {
	made, entry, err := access.CreateAccount(tx, plans, name, plan, time.Now())
	return made, appendAudit(tx, entry, err)
}

// createKey creates a key and its audit row.
func createKey(tx *sqlstore.Tx, box *encryption.Cipher, spec access.KeySpec) (access.CreatedKey, error) {
	made, entry, err := access.CreateKey(tx, box, spec, time.Now())
	return made, appendAudit(tx, entry, err)
}

// accountNames returns the names of all accounts, by id.
func accountNames(q sqlstore.Querier) (map[string]string, error) {
	all, err := access.ListAccounts(q)
	names := make(map[string]string, len(all))
	for _, a := range all {
		names[a.ID] = a.Name
	}
	return names, err
}

// parseWorld converts the flag --mode.
func parseWorld(mode string) (schema.World, error) {
	switch mode {
	case "live":
		return schema.Live, nil
	case "sandbox", "test":
		return schema.Sandbox, nil
	}
	return 0, fmt.Errorf("--mode: %q is neither live nor sandbox (or test, which is the same)", mode)
}
