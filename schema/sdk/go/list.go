package vayu

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/url"
)

// Pages iterates over the pages of a list, and requests each page when the loop needs it. An error ends the iteration.
// The errors are those of [Client.Get].
func Pages[T any](ctx context.Context, c *Client, path string, call Call) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for text, err := range c.pages(ctx, path, call) {
			var page T
			if err == nil {
				err = decode(path, text, &page)
			}
			if !yield(page, err) || err != nil {
				return
			}
		}
	}
}

// Entries iterates over the entries of a list, and requests each page when the loop needs it. An error ends the
// iteration. The errors are those of [Client.Get].
func Entries[T any](ctx context.Context, c *Client, path string, call Call) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for text, err := range c.pages(ctx, path, call) {
			var page struct{ Data, Results []T }
			if err == nil {
				err = decode(path, text, &page)
			}
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, entry := range append(page.Data, page.Results...) {
				if !yield(entry, nil) {
					return
				}
			}
		}
	}
}

func decode(path string, text []byte, page any) error {
	if err := json.Unmarshal(text, page); err != nil {
		return fmt.Errorf("vayu: GET %s: decoding the page: %w", path, err)
	}
	return nil
}

func (c *Client) pages(ctx context.Context, path string, call Call) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		query := maps.Clone(call.Query)
		if query == nil {
			query = url.Values{}
		}
		for {
			var text json.RawMessage
			call.Query = query
			err := c.Get(ctx, path, call, &text)
			var page struct {
				HasMore    bool   `json:"has_more"`
				NextCursor string `json:"next_cursor"`
			}
			if err == nil {
				err = decode(path, text, &page)
			}
			if err == nil && page.HasMore && page.NextCursor == query.Get("cursor") {
				err = fmt.Errorf("vayu: GET %s: next_cursor is the cursor of the same page", path)
			}
			if !yield(text, err) || err != nil || !page.HasMore {
				return
			}
			query.Set("cursor", page.NextCursor)
		}
	}
}
