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

// lines is the media type of results that come as a stream.
const lines = "application/x-ndjson"

// streamPage is how many records of a stream are read at once: some hundred
// kilobytes, in a millisecond or two.
const streamPage = 500

// results answers GET of what the records of a batch have become.
func (w *worker) results(c *httpapi.Call) (httpapi.Response, error) {
	params, err := httpapi.Parameters(c.URL.RawQuery, "limit", "cursor")
	if err != nil {
		return httpapi.Response{}, err
	}
	r, err := w.find(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	if err := w.kind.gone(&r, w.Now()); err != nil {
		return httpapi.Response{}, err
	}
	if c.Wants(lines) {
		return w.stream(c, r, params)
	}
	var f schema.Faults
	name := "batches/" + w.kind.Name + "/" + r.id + "/results"
	limit, after := pagination.Limit(&f, params), pagination.After(&f, w.Box, c, name, params)
	if err := f.Problem(); err != nil {
		return httpapi.Response{}, err
	}
	from := 0
	if after != "" {
		if from, err = strconv.Atoi(after); err != nil {
			return httpapi.Response{}, fmt.Errorf("reading the cursor of results: %w", err)
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
		Status: schema.Success, BatchID: r.id, State: r.state, Total: r.total, Successful: r.successful, Failed: r.failed, Results: all, BatchKept: w.kind.kept(&r),
	}
	if reply.HasMore = to < r.total; reply.HasMore {
		reply.NextCursor = pagination.Cursor(w.Box, c, name, strconv.Itoa(to))
	}
	return httpapi.Response{Value: reply}, nil
}

func ownerOf(c *httpapi.Call) schema.Owner { return schema.Owner{Account: c.Account, World: c.World} }

// stream is the reply that holds all results, a line each.
func (w *worker) stream(c *httpapi.Call, r row, params map[string]string) (httpapi.Response, error) {
	for name := range params {
		return httpapi.Response{}, schema.Refuse(schema.InvalidRequest, name, "As "+lines+" all results come at once.")
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

// item is a record that was begun.
type item struct {
	place   int
	subject string
	refusal []byte
}

const selectItems = "SELECT place, subject, refusal FROM batch_item WHERE batch_id = $1 AND place >= $2 AND place < $3 ORDER BY place"

// render gives the records from and up to to, each as one JSON object, to write,
// which may append to it and must not keep it.
func (w *worker) render(q sqlstore.Querier, o schema.Owner, batchID string, from, to int, write func(line []byte) error) error {
	items, err := sqlstore.All(q, func(row sqlstore.Scanner) (i item, err error) {
		err = row.Scan(&i.place, &i.subject, &i.refusal)
		return i, err
	}, selectItems, batchID, from, to)
	if err != nil {
		return fmt.Errorf("reading records %d of %s: %w", from, batchID, err)
	}
	shown, err := w.shown(q, o, batchID, from, to, items)
	if err != nil {
		return fmt.Errorf("reading what records %d of %s have become: %w", from, batchID, err)
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
			if line, err = items[0].append(line, shown); err != nil {
				return fmt.Errorf("showing record %d of %s: %w", place, batchID, err)
			}
			items = items[1:]
		}
		if err := write(line); err != nil {
			return err
		}
	}
	return nil
}

// shown is what the subjects of items have become.
func (w *worker) shown(q sqlstore.Querier, o schema.Owner, batchID string, from, to int, items []item) (map[string]any, error) {
	if !slices.ContainsFunc(items, func(i item) bool { return i.subject != "" }) {
		return nil, nil
	}
	return w.kind.Show(q, o, batchID, from, to)
}

// errUnshown says that a kind shows nothing of a subject, or no object.
var errUnshown = errors.New("its subject is not shown")

// append adds the fields of an item, and the end of their object.
func (i item) append(line []byte, shown map[string]any) ([]byte, error) {
	if i.subject == "" {
		line = append(line, `"status":"error",`...)
		return append(line, i.refusal[1:]...), nil
	}
	v, ok := shown[i.subject]
	if !ok {
		return nil, errUnshown
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(text) < 3 || text[0] != '{' {
		return nil, errUnshown
	}
	return append(line, text[1:]...), nil
}
