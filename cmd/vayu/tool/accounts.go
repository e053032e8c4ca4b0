package tool

import (
	"errors"
	"fmt"
	"time"

	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/access/audit"
	"vayu/internal/encryption"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Name and plan of the account that the service creates in an empty store.
const (
	DefaultAccount = "default"
	DefaultPlan    = "free"
)

// CommandActor is the actor in the audit rows of changes by a command.
const CommandActor = "command"

// AppendAudit appends the audit entry of a change. If the change has failed with err, AppendAudit appends nothing and
// returns err. An empty entry means that the change had no effect, and is not appended.
func AppendAudit(tx *sqlstore.Tx, e audit.Entry, err error) error {
	if err != nil || e.Action == "" {
		return err
	}
	e.Actor = CommandActor
	return audit.Append(tx, time.Now(), e)
}

// CreateAccount creates an account, and appends an audit row about it.
func CreateAccount(tx *sqlstore.Tx, plans map[string]int64, name, plan string) (account.Record, error) {
	made, entry, err := account.Create(tx, plans, name, plan, time.Now())
	return made, AppendAudit(tx, entry, err)
}

// CreateKey creates a key, and appends an audit row about it. Its errors are those of [apikey.Create] and of the store.
func CreateKey(tx *sqlstore.Tx, cipher *encryption.Cipher, spec apikey.Spec) (apikey.Created, error) {
	made, entry, err := apikey.Create(tx, cipher, spec, time.Now())
	return made, AppendAudit(tx, entry, err)
}

// AccountNames returns a map from the id of each account to its name.
func AccountNames(q sqlstore.Querier) (map[string]string, error) {
	all, err := account.List(q)
	names := make(map[string]string, len(all))
	for _, a := range all {
		names[a.ID] = a.Name
	}
	return names, err
}

// AccountByName returns the account with a name.
func AccountByName(q sqlstore.Querier, name string) (account.Record, error) {
	holder, err := account.ByName(q, name)
	if refused, ok := errors.AsType[*schema.Problem](err); ok && refused.Code == schema.NotFound {
		err = fmt.Errorf("there is no account %q; vayu account list shows the accounts, and vayu account create creates one", name)
	}
	return holder, err
}

// ParseWorld returns the world (live or sandbox) that the value of the flag --mode names.
func ParseWorld(mode string) (schema.World, error) {
	switch mode {
	case "live":
		return schema.Live, nil
	case "sandbox", "test":
		return schema.Sandbox, nil
	}
	return 0, fmt.Errorf("--mode: %q is neither live nor sandbox (or test, which is the same)", mode)
}
