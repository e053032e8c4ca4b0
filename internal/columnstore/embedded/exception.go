package embedded

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// Exception is an error of the engine in ClickHouse's form.
type Exception struct {
	Code    int32  // ClickHouse's error code, never 0
	Name    string // its symbol, such as UNKNOWN_TABLE
	Message string // the text between "DB::Exception: " and the symbol
}

// Error returns the text of ClickHouse's HTTP interface, without the version.
func (e *Exception) Error() string {
	return fmt.Sprintf("Code: %d. DB::Exception: %s (%s)", e.Code, e.Message, e.Name)
}

// Codes of errors that the HTTP interface itself reports (src/Common/ErrorCodes.cpp of ClickHouse).
const (
	codeBadArguments   = 36
	codeNotImplemented = 48
	codeSyntax         = 62
	codeUnknownFormat  = 73
	codeRequiredPass   = 194
	codeTooManyQueries = 202
	codeSocketTimeout  = 209
	codeDecompress     = 271
	codeSizeLimit      = 307
	codeUnknown        = 1002
	codeAuthFailed     = 516
)

func exception(code int32, name, format string, args ...any) *Exception {
	return &Exception{Code: code, Name: name, Message: fmt.Sprintf(format, args...)}
}

var (
	codePattern = regexp.MustCompile(`(?s)^(?:Error: )?Code: (\d+)\.\s*(.*)$`)
	namePattern = regexp.MustCompile(`(?s)^(.*?)\s*\(([A-Z][A-Z0-9_]+)\)\s*(?:\(version [^\n]*\))?\s*$`)
)

// parseException reads the message of the library, "Code: 60. DB::Exception: … (UNKNOWN_TABLE)".
func parseException(message string) *Exception {
	e := &Exception{Code: codeUnknown, Name: "UNKNOWN_EXCEPTION", Message: strings.TrimSpace(message)}
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

// status maps a code to ClickHouse's HTTP status (exceptionCodeToHTTPStatus in its source).
func (e *Exception) status() int {
	switch e.Code {
	case codeRequiredPass:
		return http.StatusUnauthorized
	case 192, 193, 497, codeAuthFailed: // UNKNOWN_USER, WRONG_PASSWORD, ACCESS_DENIED
		return http.StatusForbidden
	case 6, 26, 27, codeBadArguments, 38, 41, 43, 44, 45, 49, 52, 53, 59, codeSyntax, 69, 70, 72, 117, 120, 131, codeDecompress, 427, 456, 457, 467:
		return http.StatusBadRequest // parse errors, illegal types, query parameters
	case 16, 46, 47, 50, 56, 60, 63, codeUnknownFormat, 81, 113, 115:
		return http.StatusNotFound // unknown column, function, identifier, type, engine, table, format, database, setting
	case 159: // TIMEOUT_EXCEEDED
		return http.StatusRequestTimeout
	case codeSizeLimit:
		return http.StatusRequestEntityTooLarge
	case codeNotImplemented:
		return http.StatusNotImplemented
	case codeSocketTimeout, codeTooManyQueries:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}
