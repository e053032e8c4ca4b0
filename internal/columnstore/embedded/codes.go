package embedded

import (
	"net/http"

	"vayu/internal/columnstore/embedded/chdb"
	"vayu/internal/columnstore/embedded/wire"
)

// Codes of this package's own errors, from ClickHouse's src/Common/ErrorCodes.cpp.
const (
	codeBadArguments  = 36
	codeSyntax        = 62
	codeUnknownFormat = 73
	codeReadonly      = 164
	codeRequiredPass  = 194
	codeSizeLimit     = 307
	codeAuthFailed    = 516
)

// status returns ClickHouse's HTTP status for an error (exceptionCodeToHTTPStatus in its source).
func status(e *chdb.Exception) int {
	switch e.Code {
	case codeRequiredPass:
		return http.StatusUnauthorized
	case 192, 193, 497, codeAuthFailed: // UNKNOWN_USER, WRONG_PASSWORD, ACCESS_DENIED
		return http.StatusForbidden
	case 6, 26, 27, codeBadArguments, 38, 41, 43, 44, 45, 49, 52, 53, 59, codeSyntax, 69, 70, 72, 117, 120, 131, wire.CodeDecompress, 427, 456, 457, 467:
		return http.StatusBadRequest // parse errors, illegal types, query parameters
	case 16, 46, 47, 50, 56, 60, 63, codeUnknownFormat, 81, 113, 115, 372:
		return http.StatusNotFound // unknown column, function, identifier, type, engine, table, format, database, setting, session
	case 159: // TIMEOUT_EXCEEDED
		return http.StatusRequestTimeout
	case codeSizeLimit:
		return http.StatusRequestEntityTooLarge
	case wire.CodeNotImplemented:
		return http.StatusNotImplemented
	case wire.CodeSocketTimeout, chdb.CodeTooManyQueries:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}
