package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// query is one request to ClickHouse.
type query struct {
	text   string
	mark   string // identifies the query in system.processes; "" if its progress is not shown
	format format
	data   io.Reader // rows of an INSERT, may be nil
}

// send sends a query and returns the reply as soon as its first bytes arrive. The caller must close the reply's body.
func (c *Console) send(ctx context.Context, q query) (*http.Response, error) {
	values := c.URL.Query()
	values.Set("database", c.Database)
	values.Set("final", "1") // of rows with equal keys, select only the latest version
	values.Set("default_format", q.format.name)
	maps.Copy(values, q.format.settings)
	maps.Copy(values, c.settings)
	for name, value := range c.Params {
		values.Set("param_"+name, escape(value))
	}
	if !c.Write {
		values.Set("readonly", "2")
		values.Set("cancel_http_readonly_queries_on_client_close", "1")
	}
	text := q.text
	if q.mark != "" && q.data == nil {
		text += "\n-- " + q.mark
	}
	to := *c.URL
	var body io.Reader = strings.NewReader(text)
	if q.data != nil {
		values.Set("query", text)
		body = q.data
	}
	to.RawQuery = values.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), body)
	if err != nil {
		return nil, fmt.Errorf("querying ClickHouse: %w", err)
	}
	reply, err := c.HTTP.Do(r)
	if err != nil {
		return nil, unwrapURL(ctx, err)
	}
	if reply.StatusCode == http.StatusOK {
		return reply, nil
	}
	defer func() { _ = reply.Body.Close() }()
	refusal, err := io.ReadAll(io.LimitReader(reply.Body, maxRefusal))
	if err != nil {
		return nil, fmt.Errorf("querying ClickHouse: status %d: %w", reply.StatusCode, err)
	}
	return nil, c.refusal(ctx, q.text, string(refusal))
}

// maxRefusal limits the text of an error, in bytes. The text of a syntax error repeats the query, which may be long.
const maxRefusal = 64 << 10

// ErrCancelled means that the user has cancelled the statement.
var ErrCancelled = errors.New("cancelled")

// unwrapURL returns ErrCancelled if ctx is done, else `err` without the URL, which has the parameters of the query.
func unwrapURL(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ErrCancelled
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	return fmt.Errorf("querying ClickHouse: %w", err)
}

// escape returns the value of a parameter as ClickHouse reads it: as a field of tab-separated text.
func escape(value string) string {
	return strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`).Replace(value)
}

// rows runs a query with a small result, and returns the fields of each row.
func (c *Console) rows(ctx context.Context, text string) ([][]string, error) {
	reply, err := c.send(ctx, query{text: text, format: format{name: "TSVRaw"}})
	if err != nil {
		return nil, err
	}
	defer func() { _ = reply.Body.Close() }()
	all, err := io.ReadAll(reply.Body)
	if err != nil {
		return nil, unwrapURL(ctx, err)
	}
	var rows [][]string
	for line := range bytes.Lines(all) {
		rows = append(rows, strings.Split(strings.TrimSuffix(string(line), "\n"), "\t"))
	}
	return rows, nil
}
