// Package schema defines the types that cross boundaries: between parts of Vayu, between Vayu and its databases, and
// between Vayu and its clients. It does no I/O and reads no clock.
package schema

import "embed"

// OpenAPI is the contract of the HTTP API: OpenAPI 3.1 in YAML, in several files that refer to each other. The root is
// openapi.yaml. Package vayu/internal/apidoc joins the files into one JSON document.
//
//go:embed openapi.yaml openapi/*.yaml
var OpenAPI embed.FS
