package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/access/audit"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// NewKeys returns the command `vayu key`.
func NewKeys() *cobra.Command {
	return tool.Group("key", "Create, list, rotate and revoke API keys", newKeyCreate(), newKeyList(), newKeyRotate(), newKeyRevoke())
}

type keyRequest struct {
	mode, account, plan, name, expires string
	scopes, allow                      []string
	signed, quiet                      bool
}

func newKeyCreate() *cobra.Command {
	var r keyRequest
	cmd := &cobra.Command{
		Use:   "create --mode live|test",
		Short: "Create a key and show it once",
		Long: `Create a key and show it once: only its hash is stored. It is valid in a running
service within a second. A missing account is created.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			spec, err := r.spec(time.Now())
			if err != nil {
				return err
			}
			return tool.WithNewState(cmd, func(ctx context.Context, st *tool.State) error {
				made, err := createNamed(ctx, st, spec, r.account, r.plan)
				if err != nil {
					return err
				}
				printKey(cmd, made, r.quiet)
				return nil
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&r.mode, "mode", "", "world of the key: live, or test for the sandbox (sandbox does too)")
	f.StringVar(&r.account, "account", tool.DefaultAccount, "name of the account")
	f.StringVar(&r.plan, "plan", "", "plan of the account (default: its present plan, or free)")
	f.StringVar(&r.name, "name", "", "display name of the key")
	f.StringSliceVar(&r.scopes, "scopes", nil, "scopes of the key, or all (default: all but keys:manage and sources:read)")
	f.StringSliceVar(&r.allow, "allow", nil, "addresses and networks that may use the key (default: every one)")
	f.StringVar(&r.expires, "expires", "", "when the key ends: a time such as 2027-01-31T00:00:00Z, or a duration such as 720h")
	f.BoolVar(&r.signed, "require-signature", false, "every request must be signed with the key's signing secret")
	f.BoolVar(&r.quiet, "quiet", false, "print only the key (and, for signed requests, their secret on a second line)")
	_ = cmd.MarkFlagRequired("mode") // fails only if the flag does not exist
	return cmd
}

func (r keyRequest) spec(now time.Time) (apikey.Spec, error) {
	spec := apikey.Spec{Name: r.name, AllowList: r.allow, RequireSignature: r.signed}
	switch r.mode {
	case "live":
		spec.World = schema.Live
	case "test", "sandbox":
		spec.World = schema.Sandbox
	default:
		return spec, fmt.Errorf("--mode: %q is neither live nor test (or sandbox, which is the same)", r.mode)
	}
	for _, scope := range r.scopes {
		spec.Scopes = append(spec.Scopes, schema.Scope(strings.TrimSpace(scope)))
	}
	if len(r.scopes) == 1 && r.scopes[0] == "all" {
		spec.Scopes = slices.Clone(schema.Scopes)
	}
	if r.expires == "" {
		return spec, nil
	}
	if after, err := time.ParseDuration(r.expires); err == nil {
		spec.ExpiresAt = now.Add(after)
		return spec, nil
	}
	var err error
	if spec.ExpiresAt, err = time.Parse(time.RFC3339, r.expires); err != nil {
		return spec, fmt.Errorf("--expires: %q is neither a time such as 2027-01-31T00:00:00Z nor a duration such as 720h", r.expires)
	}
	return spec, nil
}

// createNamed creates a key for the named account. If the account does not exist, createNamed creates it too.
func createNamed(ctx context.Context, st *tool.State, spec apikey.Spec, name, plan string) (apikey.Created, error) {
	cipher, err := st.OpenCipher(ctx)
	if err != nil {
		return apikey.Created{}, err
	}
	var made apikey.Created
	err = st.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		if err := cipher.Confirm(tx); err != nil {
			return err
		}
		holder, err := accountFor(tx, st.Access.Plans, name, plan)
		if err != nil {
			return err
		}
		spec := spec
		spec.Account = holder.ID
		made, err = tool.CreateKey(tx, cipher, spec)
		return err
	})
	return made, err
}

// accountFor finds or creates the account with a name. If plan is not empty, the account gets that plan.
func accountFor(tx *sqlstore.Tx, plans map[string]int64, name, plan string) (account.Record, error) {
	if err := account.Lock(tx); err != nil { // another command may create the account concurrently
		return account.Record{}, err
	}
	holder, err := account.ByName(tx, name)
	switch {
	case isNotFound(err):
		return tool.CreateAccount(tx, plans, name, cmp.Or(plan, tool.DefaultPlan))
	case err != nil || plan == "" || plan == holder.Plan:
		return holder, err
	}
	holder, entry, err := account.SetPlan(tx, plans, holder.ID, plan)
	return holder, tool.AppendAudit(tx, entry, err)
}

func isNotFound(err error) bool {
	var refused *schema.Problem
	return errors.As(err, &refused) && refused.Code == schema.NotFound
}

// printKey prints a new key with its details. If `quiet` is true (for scripts), printKey prints only the key and, on a
// second line, the signing secret if there is one.
func printKey(cmd *cobra.Command, made apikey.Created, quiet bool) {
	if quiet {
		_, _ = fmt.Fprintln(cmd.OutOrStdout(), made.Key)
		if made.SigningSecret != "" {
			_, _ = fmt.Fprintln(cmd.OutOrStdout(), made.SigningSecret)
		}
		return
	}
	_, _ = fmt.Fprintf(cmd.OutOrStdout(), "key             %s\n", made.Key)
	if made.SigningSecret != "" {
		_, _ = fmt.Fprintf(cmd.OutOrStdout(), "signing secret  %s\n", made.SigningSecret)
	}
	_, _ = fmt.Fprintf(cmd.OutOrStdout(), "id              %s\nscopes          %s\naddresses       %s\nends            %s\n\n"+
		"The key is shown only once; only its hash is stored.\n",
		made.Record.ID, schema.Join(made.Record.Scopes, " "), addresses(made.Record.AllowList), orElse(made.Record.ExpiresAt, "never"))
}

func newKeyList() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the keys of an account, or of all",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return tool.WithState(cmd, func(ctx context.Context, st *tool.State) error {
				out := tool.NewTable(cmd.OutOrStdout(), "ID\tACCOUNT\tMODE\tKEY\tNAME\tSTATE\tLAST USED\tADDRESSES\tSIGNED\tSCOPES")
				err := eachKey(ctx, st, name, func(holder account.Record, k schema.Key) {
					_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s…%s\t%s\t%s\t%s\t%s\t%v\t%s\n", k.ID, holder.Name, k.Mode, k.Prefix, k.LastFour,
						k.Name, keyState(k), orElse(k.LastUsedAt, "-"), addresses(k.AllowList), k.RequireSignature, schema.Join(k.Scopes, " "))
				})
				if err != nil {
					return err
				}
				return out.Flush()
			})
		},
	}
	cmd.Flags().StringVar(&name, "account", "", "name of the account (default: every one)")
	return cmd
}

// eachKey calls `do` for every key of the named account. If name is "", it calls `do` for the keys of all accounts.
func eachKey(ctx context.Context, st *tool.State, name string, do func(account.Record, schema.Key)) error {
	view := st.DB.View(ctx)
	holders, err := account.List(view)
	if name != "" {
		var holder account.Record
		holder, err = tool.AccountByName(view, name)
		holders = []account.Record{holder}
	}
	if err != nil {
		return err
	}
	for _, holder := range holders {
		for _, w := range schema.Worlds {
			keys, err := apikey.List(view, holder.ID, w, "", math.MaxInt32, time.Now())
			if err != nil {
				return err
			}
			for _, k := range keys {
				do(holder, k.Key)
			}
		}
	}
	return nil
}

func keyState(k schema.Key) string {
	switch {
	case k.RevokedAt != nil:
		return "revoked " + *k.RevokedAt
	case !k.Active:
		return "expired " + *k.ExpiresAt
	case k.ExpiresAt != nil:
		return "until " + *k.ExpiresAt
	}
	return "active"
}

func orElse(text *string, none string) string {
	if text == nil {
		return none
	}
	return *text
}

func newKeyRotate() *cobra.Command {
	var grace time.Duration
	var quiet bool
	cmd := &cobra.Command{
		Use:   "rotate ID",
		Short: "Create a key that replaces another, which ends after a grace period",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return tool.WithState(cmd, func(ctx context.Context, st *tool.State) error {
				cipher, err := st.OpenCipher(ctx)
				if err != nil {
					return err
				}
				var made apikey.Created
				err = st.DB.Update(ctx, func(tx *sqlstore.Tx) error {
					if err := cipher.Confirm(tx); err != nil {
						return err
					}
					var entry audit.Entry
					var err error
					made, entry, err = apikey.Rotate(tx, cipher, args[0], grace, 0, time.Now())
					return tool.AppendAudit(tx, entry, err)
				})
				if err != nil {
					return err
				}
				printKey(cmd, made, quiet)
				return nil
			})
		},
	}
	cmd.Flags().DurationVar(&grace, "grace", apikey.DefaultGrace, "how long the old key stays valid, at most 168h")
	cmd.Flags().BoolVar(&quiet, "quiet", false, "print only the key (and, for signed requests, their secret on a second line)")
	return cmd
}

func newKeyRevoke() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "Revoke a key within a second, permanently",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return tool.WithKey(cmd, func(ctx context.Context, st *tool.State) error {
				err := st.DB.Update(ctx, func(tx *sqlstore.Tx) error {
					_, entry, err := apikey.Revoke(tx, args[0], time.Now())
					return tool.AppendAudit(tx, entry, err)
				})
				if err == nil {
					_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s is revoked\n", args[0])
				}
				return err
			})
		},
	}
}
