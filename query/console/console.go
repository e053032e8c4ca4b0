// Package console runs SQL for a person at a terminal, and for scripts. It sends statements to ClickHouse's HTTP
// interface and passes the results on as they arrive.
package console

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"vayu/internal/columnstore/embedded"
)

// Config configures a [Console].
type Config struct {
	HTTP     *http.Client      // client of ClickHouse's HTTP interface, which adds user and password
	Watch    *http.Client      // for the progress, as a user who sees all queries; nil means the client HTTP
	URL      *url.URL          // URL of ClickHouse's HTTP interface, with the settings of every statement
	Database string            // database of the tables that statements name without a database
	Write    bool              // allow statements that change data
	Format   string            // "table", or the name of a format in any case; empty for a table
	Params   map[string]string // values of {name:Type} in statements
	Out      io.Writer         // results
	Err      io.Writer         // notes and progress
	Progress bool              // show the progress of statements on Err, a terminal
}

// Console runs statements, one after the other. USE and SET apply to later statements.
type Console struct {
	Config

	format   format
	settings url.Values // as set by earlier SET statements
	lookup   bool       // this console reads names for suggestions, so its own errors have no suggestions
}

// New returns a console. It fails if no format of ClickHouse has the name in c.Format.
func New(ctx context.Context, c Config) (*Console, error) {
	console := &Console{Config: c, settings: url.Values{}}
	var err error
	console.format, err = console.findFormat(ctx, c.Format)
	return console, err
}

// Run runs the statements of `text` in order, and stops at the first error. If the last statement is an INSERT …
// FORMAT without rows, `data` has its rows. Otherwise `data` is nil.
func (c *Console) Run(ctx context.Context, text string, data io.Reader) error {
	statements := embedded.Split(text)
	if len(statements) == 0 {
		return fmt.Errorf("there is no statement: %q", text)
	}
	if !c.format.joins && results(statements) > 1 {
		return fmt.Errorf("the format %s takes the result of one statement: these are %d", c.format.name, results(statements))
	}
	for i, s := range statements {
		var rows io.Reader
		if i == len(statements)-1 {
			rows = data
		}
		if err := c.statement(ctx, s, rows); err != nil {
			if len(statements) > 1 {
				return fmt.Errorf("statement %d: %w", i+1, err)
			}
			return err
		}
	}
	return nil
}

// results returns the number of statements whose result is written in the format of the console.
func results(statements []embedded.Statement) (n int) {
	for _, s := range statements {
		switch s.Verb {
		case "SET", "USE", "INSERT", "CREATE", "DROP", "ALTER", "TRUNCATE", "RENAME", "SYSTEM", "OPTIMIZE":
		default:
			if s.Format == "" {
				n++
			}
		}
	}
	return n
}

func (c *Console) statement(ctx context.Context, s embedded.Statement, data io.Reader) error {
	if done, err := c.session(ctx, s); done {
		return err
	}
	if s.Verb == "INSERT" && !c.Write { // the setting readonly permits INSERT into table functions such as file
		return fmt.Errorf("INSERT is not allowed%s", needsWrite)
	}
	shown := c.format
	if s.Format != "" && s.Verb != "INSERT" {
		shown = format{name: s.Format}
	}
	q := query{text: s.Text, format: shown, data: data}
	if shown.name == "Arrow" || shown.name == "ArrowStream" {
		q.text = c.instants(ctx, s)
	}
	stop := func() {}
	if c.Progress && s.Verb != "INSERT" { // ClickHouse would read the mark as a row of an INSERT
		q.mark = newMark()
		stop = c.watch(ctx, q.mark)
	}
	reply, err := c.send(ctx, q)
	if err != nil {
		stop()
		return err
	}
	defer func() { _ = reply.Body.Close() }()
	body := c.body(ctx, reply)
	if shown.table {
		return c.table(body, stop)
	}
	out := c.Out
	if c.Progress && terminal(c.Out) { // the line of the progress must be gone before the result
		out = &starting{Writer: c.Out, start: stop}
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{out}, body, make([]byte, 256<<10))
	stop()
	return err
}

// starting is a writer that calls `start` before its first write.
type starting struct {
	io.Writer

	start func()
}

func (w *starting) Write(p []byte) (int, error) {
	w.start()
	return w.Writer.Write(p)
}

func terminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && isTerminal(file)
}
