// Command contract prints the contract as one JSON document, as the service does at /openapi.json:
//
//	go run .ci/sdk.d/contract.go
package main

import (
	"fmt"
	"os"

	"vayu/internal/apidoc"
)

func main() {
	text, err := apidoc.Document()
	if err == nil {
		_, err = os.Stdout.Write(text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
