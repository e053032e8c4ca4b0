package batch

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// lines is the media type of results that are streamed, one JSON object per line.
const lines = "application/x-ndjson"

// streamPage is the number of records that one query of a stream reads. The results of so many records have about 100
// kilobytes, and the query takes a millisecond or two.
const streamPage = 500

// results handles GET of the results of a batch.
func (w *worker) results(c *httpapi.Call) (httpapi.Response, error) {
	r, err := w.find(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	if err := expiredError(w.kind, &r, w.Now()); err != nil {
		return httpapi.Response{}, err
	}
	if c.Wants(lines) {
		return w.stream(c, r, c.Params)
	}
	var f schema.RequestErrors
	name := "batches/" + w.kind.Name + "/" + r.id + "/results"
	limit, after := pagination.Limit(&f, c.Params), pagination.ReadCursor(&f, c, name, c.Params)
	if err := f.Problem(); err != nil {
		return httpapi.Response{}, err
	}
	from := 0
	if after != "" {
		if from, err = strconv.Atoi(after); err != nil || from < 0 || from > r.total {
			pagination.RejectCursor(&f)
			return httpapi.Response{}, f.Problem()
		}
	}
	to := min(from+limit, r.total)
	all := make([]json.RawMessage, 0, to-from)
	err = w.render(w.DB.View(c.Context()), ownerOf(c), r.id, from, to, func(line []byte) error {
		all = append(all, slices.Clone(line))
		return nil
	})
	if err != nil {
		return httpapi.Response{}, err
	}
	reply := schema.BatchResults{
		Status: schema.Success, BatchID: r.id, State: r.state, Total: r.total, Successful: r.successful, Failed: r.failed, Results: all, BatchRetention: keptReply(w.kind, &r),
	}
	if reply.HasMore = to < r.total; reply.HasMore {
		reply.NextCursor = pagination.Cursor(c, name, strconv.Itoa(to))
	}
	return httpapi.Response{Value: reply}, nil
}

func ownerOf(c *httpapi.Call) schema.Owner { return schema.Owner{Account: c.Account, World: c.World} }

// stream returns a reply that streams all results, one per line.
func (w *worker) stream(c *httpapi.Call, r row, params map[string]string) (httpapi.Response, error) {
	for name := range params {
		return httpapi.Response{}, schema.NewProblem(schema.InvalidRequest, name, "The parameter "+name+" is not valid with "+lines+", which returns all results.")
	}
	return httpapi.Response{Type: []string{lines}, Stream: func(out httpapi.Flusher) error {
		for from := 0; from < r.total; from += streamPage {
			err := w.render(w.DB.View(c.Context()), ownerOf(c), r.id, from, min(from+streamPage, r.total), func(line []byte) error {
				_, err := out.Write(append(line, '\n'))
				return err
			})
			if err != nil {
				return err
			}
			if err := out.Flush(); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

// storedItem is a row of batch_item: a record that has begun or was rejected.
type storedItem struct {
	place   int
	subject string
	refusal []byte
}

const selectItems = "SELECT place, subject, refusal FROM batch_item WHERE batch_id = $1 AND place >= $2 AND place < $3 ORDER BY place"

// render calls `write` for each record in [from, to), with the record's result as a JSON object. A record without an
// item has the status "queued". `write` may append to `line`, but must not retain it.
func (w *worker) render(q sqlstore.Querier, o schema.Owner, batchID string, from, to int, write func(line []byte) error) error {
	items, err := sqlstore.All(q, func(row sqlstore.Scanner) (i storedItem, err error) {
		err = row.Scan(&i.place, &i.subject, &i.refusal)
		return i, err
	}, selectItems, batchID, from, to)
	if err != nil {
		return fmt.Errorf("reading records %d of %s: %w", from, batchID, err)
	}
	subjects, err := w.renderSubjects(q, o, batchID, from, to, items)
	if err != nil {
		return fmt.Errorf("reading the subjects of records %d of %s: %w", from, batchID, err)
	}
	var line []byte
	for place := from; place < to; place++ {
		line = append(line[:0], `{"index":`...)
		line = strconv.AppendInt(line, int64(place), 10)
		line = append(line, ',')
		switch {
		case len(items) == 0 || items[0].place != place:
			line = append(line, `"status":"queued"}`...)
		default:
			if line, err = items[0].append(line, subjects); err != nil {
				return fmt.Errorf("rendering record %d of %s: %w", place, batchID, err)
			}
			items = items[1:]
		}
		if err := write(line); err != nil {
			return err
		}
	}
	return nil
}

// renderSubjects returns the current state of items' subjects (recharges, verifications), by id.
func (w *worker) renderSubjects(q sqlstore.Querier, o schema.Owner, batchID string, from, to int, items []storedItem) (map[string]any, error) {
	if !slices.ContainsFunc(items, func(i storedItem) bool { return i.subject != "" }) {
		return nil, nil
	}
	return w.kind.Render(q, o, batchID, from, to)
}

// errNotRendered means that Kind.Render has returned no JSON object for a subject.
var errNotRendered = errors.New("its subject was not rendered")

// append appends the JSON fields of an item and the closing brace to `line`, which has the opening brace. `subjects`
// has the rendered transactions by id.
func (i storedItem) append(line []byte, subjects map[string]any) ([]byte, error) {
	if i.subject == "" {
		line = append(line, `"status":"error",`...)
		return append(line, i.refusal[1:]...), nil
	}
	v, ok := subjects[i.subject]
	if !ok {
		return nil, errNotRendered
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(text) < 3 || text[0] != '{' {
		return nil, errNotRendered
	}
	return append(line, text[1:]...), nil
}
