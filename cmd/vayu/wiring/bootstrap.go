package wiring

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"vayu/cmd/vayu/tool"
	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// bootstrapKeys has the key that this start of the service has created for each world (live or sandbox). If the store
// already had an account, the keys are empty.
type bootstrapKeys [len(schema.Worlds)]string

// bootstrap creates the first account of an empty store, and a key for each world (live and sandbox). It prints the
// keys, because the store has only their hashes.
func (s *Service) bootstrap(ctx context.Context) error {
	err := s.state.Update(ctx, func(tx *sqlstore.Tx) error {
		s.bootstrapKeys = bootstrapKeys{}
		if err := account.Lock(tx); err != nil { // another instance may start on the same store
			return err
		}
		known, err := account.List(tx)
		if len(known) > 0 || err != nil {
			return err
		}
		holder, err := tool.CreateAccount(tx, s.Config.Access.Plans, tool.DefaultAccount, tool.DefaultPlan)
		if err != nil {
			return err
		}
		for _, w := range schema.Worlds {
			made, err := tool.CreateKey(tx, s.cipher, apikey.Spec{Account: holder.ID, World: w, Name: "first key"})
			if err != nil {
				return err
			}
			s.bootstrapKeys[w] = made.Key
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("making the first keys: %w", err)
	}
	if s.bootstrapKeys != (bootstrapKeys{}) {
		_, _ = fmt.Fprintf(s.out, `
The keys of the account %q. They are shown this once; only their hashes are kept.

  sandbox  %s  (simulated air, nothing is counted)
  live     %s  (measured air)
`, tool.DefaultAccount, s.bootstrapKeys[schema.Sandbox], s.bootstrapKeys[schema.Live])
	}
	return nil
}

func (s *Service) printWelcome(address string) {
	key := s.bootstrapKeys[schema.Sandbox]
	prepare, signIn := "", "one of the keys above"
	if key == "" {
		prepare = fmt.Sprintf("  KEY=$(%s)\n", s.keyCommand())
		key, signIn = "$KEY", "any of your keys"
	}
	_, _ = fmt.Fprintf(s.out, `
Vayu answers on %[1]s. Its API is described on %[1]s/docs. The dashboard is on

  %[1]s/dashboard/  (sign in with %[4]s)

Simulated air, for trying it out:

%[2]s  curl -H "Authorization: Bearer %[3]s" "%[1]s/v1/aqi?city=Delhi"

A live key gets measured air after the first run of a source, or after the import of a file.

`, address, prepare, key, signIn)
}

// keyCommand returns a command line with which an operator can create a sandbox key for this service.
func (s *Service) keyCommand() string {
	command := os.Args[0] + " key create --mode test --quiet"
	if s.State != "" {
		return command + ` --state "$VAYU_STATE"`
	}
	data, err := filepath.Abs(s.Data)
	if err != nil {
		data = s.Data
	}
	return command + " --data " + data
}
