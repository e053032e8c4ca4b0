package chdb

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Exception is an error of the engine, with its ClickHouse code and name.
type Exception struct {
	Code    int32  // ClickHouse's error code, never 0
	Name    string // its symbol, such as UNKNOWN_TABLE
	Message string // the text between "DB::Exception: " and the symbol
}

// Error returns the text that ClickHouse's HTTP interface sends, without the version.
func (e *Exception) Error() string {
	return fmt.Sprintf("Code: %d. DB::Exception: %s (%s)", e.Code, e.Message, e.Name)
}

// NewException returns an exception of Vayu's own, with one of ClickHouse's codes and names.
func NewException(code int32, name, format string, args ...any) *Exception {
	return &Exception{Code: code, Name: name, Message: fmt.Sprintf(format, args...)}
}

// CodeTooManyQueries is the code of TOO_MANY_SIMULTANEOUS_QUERIES.
const CodeTooManyQueries = 202

// CodeUnknown is the code of an error whose message has no code.
const CodeUnknown = 1002

var (
	codePattern = regexp.MustCompile(`(?s)^(?:Error: )?Code: (\d+)\.\s*(.*)$`)
	namePattern = regexp.MustCompile(`(?s)^(.*?)\s*\(([A-Z][A-Z0-9_]+)\)\s*(?:\(version [^\n]*\))?\s*$`)
)

// parseException parses a message of the library: "Code: 60. DB::Exception: … (UNKNOWN_TABLE)".
func parseException(message string) *Exception {
	e := &Exception{Code: CodeUnknown, Name: "UNKNOWN_EXCEPTION", Message: strings.TrimSpace(message)}
	m := codePattern.FindStringSubmatch(e.Message)
	if m == nil {
		return e
	}
	code, err := strconv.ParseInt(m[1], 10, 32)
	if err != nil || code == 0 {
		return e
	}
	e.Code, e.Message = int32(code), strings.TrimSpace(strings.TrimPrefix(m[2], "DB::Exception: "))
	if m := namePattern.FindStringSubmatch(e.Message); m != nil {
		e.Message, e.Name = m[1], m[2]
	}
	return e
}

// FileCodes are the codes of errors about a file of a table: CANNOT_READ_ALL_DATA, CHECKSUM_DOESNT_MATCH,
// CANNOT_READ_FROM_FILE_DESCRIPTOR, CANNOT_WRITE_TO_FILE_DESCRIPTOR, CANNOT_OPEN_FILE, CORRUPTED_DATA.
const FileCodes = "33, 40, 74, 75, 76, 246"

// FileRemedy ends the text of errors about a file of a table.
const FileRemedy = "; the remedy is in docs/operations/runbooks/engine-down.md#a-part-is-corrupt"

// Remedy returns FileRemedy for an error about a file of a table, else "".
func Remedy(e *Exception) string {
	if strings.Contains(e.Message, "/store/") && slices.Contains(strings.Split(FileCodes, ", "), strconv.Itoa(int(e.Code))) {
		return FileRemedy
	}
	return ""
}
