package schema

// Success is the status in a successful reply.
const Success = "success"

// List is one page of a list. NextCursor is null on the last page.
type List[T any] struct {
	Status     string  `json:"status"`
	Data       []T     `json:"data"`
	HasMore    bool    `json:"has_more"`
	NextCursor *string `json:"next_cursor"`
}
