package schema

import "strings"

// Success is the status in a successful reply.
const Success = "success"

// List is one page of a list. NextCursor is null on the last page.
type List[T any] struct {
	Status     string  `json:"status"`
	Data       []T     `json:"data"`
	HasMore    bool    `json:"has_more"`
	NextCursor *string `json:"next_cursor"`
}

// Join returns values, such as scopes, as one text with `between` between them.
func Join[T ~string](values []T, between string) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return strings.Join(texts, between)
}
