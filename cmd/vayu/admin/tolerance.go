package admin

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/internal/access/account"
	"vayu/internal/sqlstore"
	"vayu/pipeline/verify/namematch"
)

// defaultTolerance is the text for an account without a name tolerance of its own. A name tolerance is the least
// similarity at which two names match.
const defaultTolerance = "default"

// toleranceScores are the minimum scores of the named tolerances. API requests use the same names.
var toleranceScores = map[string]int64{"strict": 100, "standard": namematch.Standard, "lenient": namematch.Lenient}

func newAccountTolerance() *cobra.Command {
	return &cobra.Command{
		Use:   "tolerance NAME strict|standard|lenient|0-100|default",
		Short: "Set how similar names must be in verifications of an account",
		Long: `Set how similar the expected and the registered name must be in verifications of an account
without their own name_match_tolerance: strict is the same words, standard a score
of 70, lenient one of 50, a number the least score; default is standard. It applies to
later verifications, also in a running service.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			score, err := toleranceOf(args[1])
			if err != nil {
				return err
			}
			return tool.WithKey(cmd, func(ctx context.Context, st *tool.State) error {
				return st.DB.Update(ctx, func(tx *sqlstore.Tx) error {
					holder, err := tool.AccountByName(tx, args[0])
					if err != nil {
						return err
					}
					_, entry, err := account.SetNameTolerance(tx, holder.ID, score)
					return tool.AppendAudit(tx, entry, err)
				})
			})
		},
	}
}

// toleranceOf parses a name tolerance, such as "strict" or "70". For "default" it returns NULL.
func toleranceOf(text string) (sql.NullInt64, error) {
	if text == defaultTolerance {
		return sql.NullInt64{}, nil
	}
	if score, ok := toleranceScores[text]; ok {
		return sql.NullInt64{Int64: score, Valid: true}, nil
	}
	score, err := strconv.ParseUint(text, 10, 8)
	if err != nil || int64(score) > toleranceScores["strict"] {
		return sql.NullInt64{}, fmt.Errorf("the tolerance %q is neither strict, standard, lenient or default nor a whole number from 0 to 100", text)
	}
	return sql.NullInt64{Int64: int64(score), Valid: true}, nil
}

func toleranceText(score sql.NullInt64) string {
	if !score.Valid {
		return defaultTolerance
	}
	return strconv.FormatInt(score.Int64, 10)
}
