// Package schema defines the types that cross boundaries: between parts of Vayu,
// to its databases, and to its clients. It does no I/O and reads no clock.
package schema

import "embed"

// OpenAPI is the contract of the HTTP API, OpenAPI 3.1 in YAML. openapi.yaml is the
// root, and it and the files under openapi/ refer to each other. Package
// vayu/internal/apidoc joins them into one JSON document.
//
//go:embed openapi.yaml openapi/*.yaml
var OpenAPI embed.FS
