package reconcile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"vayu/pipeline/recharge/reconcile"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/settle"
	"vayu/schema"
)

// blockRows is the number of rows in a block of the table. Columns are aligned in each block separately.
const blockRows = 1000

type entries struct {
	out   io.Writer
	names map[string]string // names of accounts, by id
	now   time.Time
	table *tabwriter.Writer // nil for JSON
	n     int
}

func newEntries(out io.Writer, names map[string]string, now time.Time, asJSON bool) *entries {
	e := &entries{out: out, names: names, now: now}
	if !asJSON {
		e.table = tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	}
	return e
}

type rechargeLine struct {
	TransactionID string               `json:"transaction_id"`
	AccountID     string               `json:"account_id"`
	Account       string               `json:"account"`
	Mode          string               `json:"mode"`
	Provider      string               `json:"provider"`
	Reference     string               `json:"reference"`
	Mobile        string               `json:"mobile"`
	Operator      string               `json:"operator"`
	Amount        schema.Paise         `json:"amount"`
	Status        schema.RechargeState `json:"status"`
	Alarm         string               `json:"alarm,omitempty"`
	CreatedAt     string               `json:"created_at"`
}

func lineOf(r *record.Record, names map[string]string) rechargeLine {
	return rechargeLine{
		TransactionID: r.ID, AccountID: r.Owner.Account, Account: names[r.Owner.Account], Mode: r.Owner.World.String(),
		Provider: r.Provider, Reference: r.Reference, Mobile: r.Number, Operator: r.Operator, Amount: r.Amount,
		Status: r.State, Alarm: r.Alarm, CreatedAt: r.CreatedAt.Format(time.RFC3339),
	}
}

func (e *entries) entry(one reconcile.Entry) error {
	e.n++
	age := e.now.Sub(one.CreatedAt)
	if e.table == nil {
		return json.NewEncoder(e.out).Encode(struct {
			rechargeLine

			AgeSeconds int64  `json:"age_seconds"`
			Why        string `json:"why"`
		}{lineOf(&one.Record, e.names), int64(age / time.Second), one.Why})
	}
	if e.n%blockRows == 1 {
		_, _ = fmt.Fprintln(e.table, "ID\tACCOUNT\tMODE\tPROVIDER\tREFERENCE\tNUMBER\tOPERATOR\tAMOUNT\tSTATE\tAGE\tWHY")
	}
	_, err := fmt.Fprintf(e.table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", one.ID, e.names[one.Owner.Account], one.Owner.World,
		cmp.Or(one.Provider, "-"), cmp.Or(one.Reference, "-"), one.Number, cmp.Or(one.Operator, "-"), one.Amount.Rupees(), one.State, aged(age), why(&one))
	if err == nil && e.n%blockRows == 0 {
		err = e.table.Flush()
	}
	return err
}

func (e *entries) end() error {
	if e.table == nil {
		return nil
	}
	if err := e.table.Flush(); err != nil {
		return err
	}
	text := fmt.Sprintf("\n%s to look at; see docs/reconciliation.md", counted(e.n, "recharge"))
	if e.n == 0 {
		text = "no recharge to look at"
	}
	_, err := fmt.Fprintln(e.out, text)
	return err
}

// why returns the text that explains why a recharge needs attention. The text about an alarm omits the state
// of the recharge, because the state may have changed after the alarm.
func why(e *reconcile.Entry) string {
	return map[string]string{
		string(schema.RechargePending): "pending for more than a day",
		settle.AlarmLateSuccess:        "the provider has reported success of an order that had failed",
		settle.AlarmLateFailure:        "the provider has reported failed after success",
	}[e.Why]
}

// aged formats a duration for people, such as 26h or 3d.
func aged(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 3*day:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/day)
}

// counted formats a number with its unit, such as 1 line or 1,234 lines.
func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return grouped(n) + " " + what
}

// grouped formats a number with commas, such as 1,234,567.
func grouped(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
