package schema

import "embed"

// OpenAPI is the contract of the HTTP API: OpenAPI 3.1 in YAML. openapi.yaml is
// its root, which the files under openapi/ refer to and are referred to from;
// vayu/internal/apidoc makes one JSON document of them.
//
//go:embed openapi.yaml openapi/*.yaml
var OpenAPI embed.FS
