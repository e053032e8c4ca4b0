package reconcile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"vayu/pipeline/recharge/reconcile"
	"vayu/schema"
)

// maxShown is the largest number of differences of one kind in the text output. The JSON output has no limit.
const maxShown = 1000

type differences struct {
	out   io.Writer
	names map[string]string // names of accounts, by id
	of    *reconcile.Comparison
	json  bool
	kept  map[reconcile.Kind][]reconcile.Difference // differences that the method end prints, by kind
}

// difference prints d at once if the output is JSON. Otherwise it keeps d for [differences.end], but at most maxShown
// differences of each kind.
func (s *differences) difference(d reconcile.Difference) error {
	if s.json {
		return json.NewEncoder(s.out).Encode(s.wire(&d))
	}
	if all := s.kept[d.Kind]; len(all) < maxShown {
		s.kept[d.Kind] = append(all, d)
	}
	return nil
}

// differenceLine is one line of the JSON output. It describes one difference.
type differenceLine struct {
	Kind      reconcile.Kind `json:"kind"`
	What      string         `json:"what"`
	Action    string         `json:"action"`
	Automatic bool           `json:"automatic"`
	Line      int            `json:"line,omitempty"`
	Error     string         `json:"error,omitempty"` // why the line could not be parsed
	File      *fileLine      `json:"file,omitempty"`
	Recharge  *rechargeLine  `json:"recharge,omitempty"` // the recharge before it was settled
	Settled   *settledLine   `json:"settled,omitempty"`
}

type fileLine struct {
	Reference string           `json:"reference"`
	ID        string           `json:"id,omitempty"`
	Status    reconcile.Status `json:"status"`
	Amount    schema.Paise     `json:"amount"`
}

type settledLine struct {
	Status  schema.RechargeState `json:"status"`
	Alarm   string               `json:"alarm,omitempty"`
	Done    bool                 `json:"done"`
	Message string               `json:"message,omitempty"`
}

func (s *differences) wire(d *reconcile.Difference) differenceLine {
	about := d.Kind.Info()
	out := differenceLine{Kind: d.Kind, What: about.What, Action: about.Action, Automatic: about.Automatic, Line: d.At, Error: d.Text}
	if l := d.Line; l != nil {
		out.File = &fileLine{l.Reference, l.ID, l.Status, l.Amount}
	}
	if d.Ours != nil {
		ours := lineOf(d.Ours, s.names)
		out.Recharge = &ours
	}
	if w := d.Settled; w != nil {
		out.Settled = &settledLine{w.State, w.Alarm, w.Done, w.Refusal}
	}
	return out
}

// countLine is a number of lines or recharges in JSON, with the sums of their amounts in the file and in the store.
type countLine struct {
	Count  int          `json:"count"`
	File   schema.Paise `json:"file_amount"`
	Ours   schema.Paise `json:"amount"`
	Done   *int         `json:"done,omitempty"`
	Action string       `json:"action,omitempty"`
}

// end prints the result of a comparison. If err is not nil, the comparison was not completed. Then end prints only the
// number of settled differences, and even that only with --apply and without --json.
func (s *differences) end(path string, sum reconcile.Summary, err error) error {
	switch {
	case s.json && err == nil:
		return s.endJSON(sum)
	case err == nil:
		return errors.Join(s.head(path, sum), s.kinds(sum), s.tail(sum))
	case s.of.Settler != nil && !s.json:
		_, _ = fmt.Fprintf(s.out, "settled %s before it ended; run the same command again to continue\n", counted(settled(sum), "difference"))
	}
	return nil
}

func (s *differences) endJSON(sum reconcile.Summary) error {
	matches, kinds := map[reconcile.Status]countLine{}, map[reconcile.Kind]countLine{}
	for status, t := range sum.Matches {
		matches[status] = countLine{Count: t.Count, File: t.File, Ours: t.Ours}
	}
	for kind, t := range sum.Kinds {
		done := sum.Done[kind]
		kinds[kind] = countLine{t.Count, t.File, t.Ours, &done, kind.Info().Action}
	}
	return json.NewEncoder(s.out).Encode(map[string]any{
		"kind": "summary", "mode": s.of.World.String(), "provider": s.of.Provider, "lines": sum.Lines, "matches": matches, "differences": kinds,
		"resolved": countLine{Count: sum.Resolved.Count, File: sum.Resolved.File, Ours: sum.Resolved.Ours}, "left": sum.Left, "applied": s.of.Settler != nil, "absent_looked_for": !s.of.From.IsZero(),
	})
}

// head prints a line about the file and the compared period, and a table of the lines that match recharges, by status.
func (s *differences) head(path string, sum reconcile.Summary) error {
	_, _ = fmt.Fprintf(s.out, "%s: %s of %s (%s)", path, counted(sum.Lines, "line"), s.of.Provider, s.of.World)
	if s.of.From.IsZero() {
		_, _ = fmt.Fprint(s.out, "; without --date nothing is missed\n\n")
	} else {
		first, last := s.of.From.In(schema.India).Format("2006-01-02"), s.of.To.Add(-1).In(schema.India).Format("2006-01-02")
		if last != first {
			first += " to " + last
		}
		_, _ = fmt.Fprintf(s.out, "; compared with the recharges of %s\n\n", first)
	}
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "MATCHES\tLINES\tAMOUNT\t")
	var all reconcile.Counts
	for _, status := range reconcile.Statuses {
		t := sum.Matches[status]
		all.Count, all.File = all.Count+t.Count, all.File+t.File
		_, _ = fmt.Fprintf(table, "%s\t%d\t%s\t\n", status, t.Count, t.File.Rupees())
	}
	_, _ = fmt.Fprintf(table, "all\t%d\t%s\t\n", all.Count, all.File.Rupees())
	return table.Flush()
}

// kinds prints a section for each kind of difference: the number, the remedy and a table.
func (s *differences) kinds(sum reconcile.Summary) error {
	for _, about := range reconcile.Kinds {
		t := sum.Kinds[about.Kind]
		if t.Count == 0 {
			continue
		}
		_, _ = fmt.Fprintf(s.out, "\n%s: %s", strings.ToUpper(about.What), grouped(t.Count))
		if sums := sumsOf(t); sums != "" {
			_, _ = fmt.Fprintf(s.out, " (%s)", sums)
		}
		_, _ = fmt.Fprintf(s.out, "\n-> %s\n", s.action(about, sum.Done[about.Kind]))
		if err := s.rows(about.Kind); err != nil {
			return err
		}
		if more := t.Count - len(s.kept[about.Kind]); more > 0 {
			_, _ = fmt.Fprintf(s.out, "  and %s more; --json prints all\n", grouped(more))
		}
	}
	return nil
}

// action returns what an operator can do about the differences of a kind, or what the command has done about them.
func (s *differences) action(about reconcile.KindInfo, done int) string {
	switch {
	case done > 0:
		return fmt.Sprintf("done for %s: %s", grouped(done), about.Action)
	case about.Automatic && s.of.Settler == nil:
		return "with --apply: " + about.Action
	}
	return about.Action
}

func settled(sum reconcile.Summary) (n int) {
	for _, done := range sum.Done {
		n += done
	}
	return n
}

func sumsOf(t reconcile.Counts) string {
	switch {
	case t.File == t.Ours && t.File > 0:
		return t.File.Rupees()
	case t.File > 0 && t.Ours > 0:
		return t.File.Rupees() + " there, " + t.Ours.Rupees() + " here"
	case t.File > 0 || t.Ours > 0:
		return (t.File + t.Ours).Rupees()
	}
	return ""
}

func (s *differences) rows(kind reconcile.Kind) error {
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	if kind != reconcile.Unreadable {
		_, _ = fmt.Fprintln(table, "  LINE\tREFERENCE\tTHERE\tHERE\tACCOUNT\tNUMBER\tCREATED (IST)\tNOW")
	}
	for i := range s.kept[kind] {
		d := &s.kept[kind][i]
		if kind == reconcile.Unreadable {
			_, _ = fmt.Fprintf(table, "  line %d\t%s\n", d.At, d.Text)
			continue
		}
		_, _ = fmt.Fprintf(table, "  %s\n", strings.Join(s.row(d), "\t"))
	}
	return table.Flush()
}

func (s *differences) row(d *reconcile.Difference) []string {
	at, reference, there, here, name, number, created, now := "-", "", "-", "-", "-", "-", "-", ""
	if l := d.Line; l != nil {
		at, reference, there = fmt.Sprint(d.At), l.Reference, string(l.Status)+" "+l.Amount.Rupees()
	}
	if o := d.Ours; o != nil {
		here, name, number = string(o.State)+" "+o.Amount.Rupees(), s.names[o.Owner.Account], o.Number
		created = o.CreatedAt.In(schema.India).Format("2006-01-02 15:04:05")
		if reference == "" {
			reference = o.Reference
		}
		if d.Kind == reconcile.OtherProvider {
			here += " (" + o.Provider + ")"
		}
	}
	if w := d.Settled; w != nil {
		now = string(w.State)
		switch {
		case w.Refusal != "":
			now = "not settled: " + w.Refusal
		case !w.Done:
			now += ", it changed meanwhile"
		case d.Kind == reconcile.Suspense:
			now += ", in suspense"
		}
	}
	return []string{at, reference, there, here, name, number, created, now}
}

// tail prints the last line of the report: how many differences were settled, or can be settled with --apply.
func (s *differences) tail(sum reconcile.Summary) error {
	automatic, differs := 0, 0
	for kind, t := range sum.Kinds {
		differs += t.Count
		if kind.Info().Automatic {
			automatic += t.Count
		}
	}
	var text string
	switch {
	case differs == 0:
		text = "everything matches"
	case s.of.Settler != nil:
		text = fmt.Sprintf("settled %s; %s left for people", counted(settled(sum), "difference"), grouped(sum.Left))
	default:
		text = fmt.Sprintf("%s; nothing was changed, and --apply acts on %s", counted(differs, "difference"), grouped(automatic))
	}
	if n := sum.Resolved.Count; n > 0 {
		text += fmt.Sprintf("; not counted: %s whose alarm was resolved", counted(n, "recharge"))
	}
	_, err := fmt.Fprintln(s.out, "\n"+text)
	return err
}
