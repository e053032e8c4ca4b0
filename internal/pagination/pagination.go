// Package pagination reads the parameters of list endpoints and makes their replies: pages, cursors and time ranges.
package pagination

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"math"
	"strings"
	"time"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// Limit returns the page size from the parameter "limit". If the parameter is invalid, Limit adds a fault to f.
func Limit(f *schema.RequestErrors, params map[string]string) int {
	limit, wrong := httpapi.PageSize(params)
	if wrong != nil {
		f.Add(wrong.Field, wrong.Message)
	}
	return limit
}

// Totals returns the parameter "totals": whether the first page has the totals of all pages. The default is false. If
// the parameter is invalid, Totals adds a fault to f.
func Totals(f *schema.RequestErrors, params map[string]string) bool {
	text, given := params["totals"]
	if given && text != "true" && text != "false" {
		f.Add("totals", "The parameter totals must be true or false.")
	}
	return text == "true"
}

// checksumSize is the length of a cursor's checksum, in bytes. It is long enough that a damaged
// cursor has, in practice, no valid checksum.
const checksumSize = 8

// Cursor returns a cursor for the position after an entry. A client sends the cursor to get the next page. `last`
// identifies the entry, and `list` names the list and its filter. The cursor has a checksum of `last`, `list`, the
// account and the world (live or sandbox). So ReadCursor rejects the cursor of another list. A cursor is no secret,
// and it grants no access: each list checks the owner of its entries.
func Cursor(c *httpapi.Call, list, last string) *string {
	text := base64.RawURLEncoding.EncodeToString(append(checksum(c, list, last), last...))
	return &text
}

func checksum(c *httpapi.Call, list, last string) []byte {
	sum := sha256.Sum256([]byte(c.Account + "\n" + c.World.String() + "\n" + list + "\n" + last))
	return sum[:checksumSize]
}

// ReadCursor reads the parameter "cursor" and returns the argument `last` that was passed to
// Cursor. The result is printable ASCII, but a client can forge it. If the parameter is missing or
// invalid, ReadCursor returns "". If it is invalid, ReadCursor also adds a fault to f.
func ReadCursor(f *schema.RequestErrors, c *httpapi.Call, list string, params map[string]string) string {
	text, ok := params["cursor"]
	if !ok {
		return ""
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) <= checksumSize {
		RejectCursor(f)
		return ""
	}
	last := string(raw[checksumSize:])
	unprintable := strings.ContainsFunc(last, func(r rune) bool { return r < ' ' || r > '~' })
	if unprintable || !bytes.Equal(raw[:checksumSize], checksum(c, list, last)) {
		RejectCursor(f)
		return ""
	}
	return last
}

// RejectCursor adds the fault of an invalid cursor to f.
func RejectCursor(f *schema.RequestErrors) {
	f.Add("cursor", "The cursor is not from this list. Use next_cursor of the previous page.")
}

// Reply makes the reply of a list. The caller reads one row more than `limit`, so that Reply can detect a next page.
// The function `wire` converts a row to its JSON form, and `cursor` returns the cursor for the position after a row.
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

// TimeRange returns the range [from, to) of the parameters "from" and "to", in Unix microseconds. If a parameter is
// invalid, or the range is empty, TimeRange adds faults to f. If the parameter "to" is a date, the range includes that
// day in UTC. Without "from", the result is math.MinInt64, and without "to", math.MaxInt64.
func TimeRange(f *schema.RequestErrors, params map[string]string) (from, to int64) {
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

// instant parses a date or an RFC 3339 time, and returns it in Unix microseconds. To a date it adds
// the duration `more`. If text is invalid, it adds a fault to f.
func instant(f *schema.RequestErrors, name, text string, more time.Duration) int64 {
	if t, ok := ParseDay(text); ok {
		return t.Add(more).UnixMicro()
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		f.Add(name, "The parameter "+name+" must be a date (YYYY-MM-DD, UTC) or an RFC 3339 time.")
	}
	return t.UnixMicro()
}

// ParseDay parses a date, YYYY-MM-DD. It returns false for any other text.
func ParseDay(text string) (time.Time, bool) {
	t, err := time.Parse(time.DateOnly, text)
	return t, err == nil && len(text) == len(time.DateOnly)
}
