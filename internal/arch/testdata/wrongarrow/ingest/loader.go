// Package ingest is a stage that knows its neighbour.
package ingest

import "vayu/query"

var _ = query.Answer
