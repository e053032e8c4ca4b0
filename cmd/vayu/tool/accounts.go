package tool

import (
	"fmt"
	"time"

	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/access/audit"
	"vayu/internal/encryption"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Name and plan of the bootstrap account, the first one of an empty store.
const (
	DefaultAccount = "default"
	DefaultPlan    = "free"
)

// CommandActor is the actor in audit rows about changes by the command line.
const CommandActor = "command"

// AppendAudit appends the entry of a change to the audit log, unless err is set. A change without an effect has
// an empty entry, which is not appended.
func AppendAudit(tx *sqlstore.Tx, e audit.Entry, err error) error {
	if err != nil || e.Action == "" {
		return err
	}
	e.Actor = CommandActor
	return audit.Append(tx, time.Now(), e)
}

// CreateAccount creates an account and its audit row.
func CreateAccount(tx *sqlstore.Tx, plans map[string]int64, name, plan string) (account.Record, error) {
	made, entry, err := account.Create(tx, plans, name, plan, time.Now())
	return made, AppendAudit(tx, entry, err)
}

// CreateKey creates a key and its audit row.
func CreateKey(tx *sqlstore.Tx, box *encryption.Cipher, spec apikey.Spec) (apikey.Created, error) {
	made, entry, err := apikey.Create(tx, box, spec, time.Now())
	return made, AppendAudit(tx, entry, err)
}

// AccountNames returns the names of all accounts, by id.
func AccountNames(q sqlstore.Querier) (map[string]string, error) {
	all, err := account.List(q)
	names := make(map[string]string, len(all))
	for _, a := range all {
		names[a.ID] = a.Name
	}
	return names, err
}

// ParseWorld converts the flag --mode.
func ParseWorld(mode string) (schema.World, error) {
	switch mode {
	case "live":
		return schema.Live, nil
	case "sandbox", "test":
		return schema.Sandbox, nil
	}
	return 0, fmt.Errorf("--mode: %q is neither live nor sandbox (or test, which is the same)", mode)
}
