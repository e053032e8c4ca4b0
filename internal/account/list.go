package account

import (
	"encoding/base64"
	"time"

	"vayu/internal/api"
	"vayu/schema"
)

// limitOf reads the parameter limit.
func (f *faults) limitOf(params map[string]string) int {
	limit, wrong := api.PageSize(params)
	if wrong != nil {
		f.add(wrong.Field, wrong.Message)
	}
	return limit
}

// A cursor is the sealed name of the last entry of a page: only the list that
// gave it, of the same account and world and with the same filter, opens it.
func (s *Service) cursor(c *api.Call, list, last string) *string {
	text := base64.RawURLEncoding.EncodeToString(s.Box.Seal([]byte(last), aboutCursor(c, list)))
	return &text
}

func aboutCursor(c *api.Call, list string) string {
	return "cursor:" + c.Account + "/" + c.World.String() + "/" + list
}

// after reads the parameter cursor; "" when there is none.
func (s *Service) after(f *faults, c *api.Call, list string, params map[string]string) string {
	text, ok := params["cursor"]
	if !ok {
		return ""
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err == nil {
		var last []byte
		if last, err = s.Box.Open(sealed, aboutCursor(c, list)); err == nil {
			return string(last)
		}
	}
	f.add("cursor", "The cursor is not one that this list has given.")
	return ""
}

// page makes the reply of a list from rows of which there is one more than the
// limit when there are more; name gives the cursor after an entry.
func page[R, W any](rows []R, limit int, wire func(R) (W, error), name func(R) *string) (api.Response, error) {
	list := schema.List[W]{Status: schema.Success, Data: []W{}}
	if len(rows) > limit {
		rows = rows[:limit]
		list.HasMore, list.NextCursor = true, name(rows[limit-1])
	}
	for _, row := range rows {
		one, err := wire(row)
		if err != nil {
			return api.Response{}, err
		}
		list.Data = append(list.Data, one)
	}
	return api.Response{Value: list}, nil
}

// day reads a date.
func day(text string) (time.Time, bool) {
	t, err := time.Parse(time.DateOnly, text)
	return t, err == nil && len(text) == len(time.DateOnly)
}
