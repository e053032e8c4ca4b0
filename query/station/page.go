package station

import (
	"encoding/base64"
	"strings"

	"vayu/internal/httpapi"
)

// PageRange returns the range of entries that the parameters `limit` and `cursor` select. The list has n entries,
// sorted by `key`. A cursor contains the name of its list, so that it is invalid for other lists. `next` is nil on
// the last page. The error is a *schema.Problem.
func PageRange(params map[string]string, list string, n int, key func(int) string) (from, to int, next *string, err error) {
	list += "\x00"
	limit, wrong := httpapi.PageSize(params)
	if wrong != nil {
		return 0, 0, nil, wrong
	}
	if text, ok := params["cursor"]; ok {
		raw, err := base64.RawURLEncoding.DecodeString(text)
		after, ours := strings.CutPrefix(string(raw), list)
		if err != nil || !ours || after == "" {
			return 0, 0, nil, errCursor
		}
		for from < n && key(from) <= after {
			from++
		}
	}
	to = min(from+limit, n)
	if to < n {
		text := base64.RawURLEncoding.EncodeToString([]byte(list + key(to-1)))
		next = &text
	}
	return from, to, next, nil
}
