package air

import "encoding/json"

// StatisticsReply is the reply to GET /v1/statistics: one page of the rows of a view, as ClickHouse writes them.
type StatisticsReply struct {
	Status     string            `json:"status"`
	View       string            `json:"view"`
	Data       []json.RawMessage `json:"data"`
	HasMore    bool              `json:"has_more"`
	NextCursor *string           `json:"next_cursor"`
}
