// Package pagination is how lists are asked for and answered: a page at a time, with
// a cursor that leads to the next, and a range of time.
package pagination

import (
	"encoding/base64"
	"math"
	"time"

	"vayu/internal/encryption"
	"vayu/internal/httpapi"
	"vayu/schema"
)

// Limit reads the parameter limit; a fault in it goes to f.
func Limit(f *schema.Faults, params map[string]string) int {
	limit, wrong := httpapi.PageSize(params)
	if wrong != nil {
		f.Add(wrong.Field, wrong.Message)
	}
	return limit
}

// Cursor is the sealed name of the last entry of a page: only the list that
// gave it, of the same account and world and with the same filter, opens it.
// List names the list and its filter.
func Cursor(box *encryption.Box, c *httpapi.Call, list, last string) *string {
	text := base64.RawURLEncoding.EncodeToString(box.Seal([]byte(last), about(c, list)))
	return &text
}

func about(c *httpapi.Call, list string) string {
	return "cursor:" + c.Account + "/" + c.World.String() + "/" + list
}

// After reads the parameter cursor: the name that Cursor was given, or "" when
// there is none. A fault in it goes to f.
func After(f *schema.Faults, box *encryption.Box, c *httpapi.Call, list string, params map[string]string) string {
	text, ok := params["cursor"]
	if !ok {
		return ""
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err == nil {
		var last []byte
		if last, err = box.Open(sealed, about(c, list)); err == nil {
			return string(last)
		}
	}
	f.Add("cursor", "The cursor is not one that this list has given.")
	return ""
}

// Reply makes the reply of a list from rows of which there is one more than the
// limit when there are more; cursor gives the cursor after a row.
func Reply[R, W any](rows []R, limit int, wire func(R) (W, error), cursor func(R) *string) (httpapi.Response, error) {
	list := schema.List[W]{Status: schema.Success, Data: []W{}}
	if len(rows) > limit {
		rows = rows[:limit]
		list.HasMore, list.NextCursor = true, cursor(rows[limit-1])
	}
	for _, row := range rows {
		one, err := wire(row)
		if err != nil {
			return httpapi.Response{}, err
		}
		list.Data = append(list.Data, one)
	}
	return httpapi.Response{Value: list}, nil
}

// Span is the time that the parameters from and to mean, in microseconds: to is
// not part of it, but a date in to is, to its end in UTC. Without them it is all
// time. Faults go to f.
func Span(f *schema.Faults, params map[string]string) (from, to int64) {
	before := len(*f)
	from, to = math.MinInt64, math.MaxInt64
	if text, ok := params["from"]; ok {
		from = instant(f, "from", text, 0)
	}
	if text, ok := params["to"]; ok {
		to = instant(f, "to", text, 24*time.Hour)
	}
	if len(*f) == before && from >= to {
		f.Add("from", "The range ends before it begins.")
	}
	return from, to
}

// instant reads a date or an instant; a date gets more added.
func instant(f *schema.Faults, name, text string, more time.Duration) int64 {
	if t, ok := Day(text); ok {
		return t.Add(more).UnixMicro()
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		f.Add(name, "The parameter "+name+" is a date (YYYY-MM-DD, UTC) or an instant as in RFC 3339.")
	}
	return t.UnixMicro()
}

// Day reads a date, YYYY-MM-DD.
func Day(text string) (time.Time, bool) {
	t, err := time.Parse(time.DateOnly, text)
	return t, err == nil && len(text) == len(time.DateOnly)
}
