// Package ingest is a stage that imports another stage, against the import rules.
package ingest

import "vayu/query"

var _ = query.Answer
