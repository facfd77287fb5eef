package repair

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// A record is a JSON object on a line of its own. Its last two members are `prev`,
// the sum of the record before ("" for the first), and `sum`: the SHA-256, in
// hexadecimal, of all bytes of the line before `,"sum":`. So a record that was
// changed, added, moved or taken out does not fit, and neither does one of
// another receipt. What stands behind the last line break is a record that was
// cut off.
const (
	beforePrev = `,"prev":"`
	beforeSum  = `,"sum":"`
	behindSum  = `"}`
	lengthSum  = 2 * sha256.Size
)

// seal makes the line of an object that has a member, in place if there is room.
func seal(object []byte, prev string) (sealed []byte, sum string) {
	body := append(bytes.TrimSuffix(object, []byte("}")), beforePrev+prev+`"`...)
	sum = sumOf(body)
	return append(body, beforeSum+sum+behindSum+"\n"...), sum
}

// unseal gives the sum of a line without its break, and reports whether it is what
// was sealed, and behind that record.
func unseal(sealed []byte, prev string) (sum string, whole, fits bool) {
	n := len(sealed) - len(behindSum) - lengthSum
	if n < len(beforeSum) || string(sealed[len(sealed)-len(behindSum):]) != behindSum {
		return "", false, false
	}
	body := sealed[:n-len(beforeSum)]
	sum = string(sealed[n : n+lengthSum])
	if string(sealed[len(body):n]) != beforeSum || sum != sumOf(body) {
		return "", false, false
	}
	return sum, true, bytes.HasSuffix(body, []byte(beforePrev+prev+`"`))
}

func sumOf(body []byte) string {
	digest := sha256.Sum256(body)
	return hex.EncodeToString(digest[:])
}

// tail is where the last whole record of a receipt ends, and its sum.
type tail struct {
	size int64
	sum  string
}

// line is where a record stands, without its line break, and its sum.
type line struct {
	offset, size int64
	sum          string
}

// longest is how long a record may be: a journal holds what SQLite stores, no
// value of which is longer than 1 GiB as it is set up here.
const longest = 4 << 30 // bytes

var errTooLong = errors.New("the line is too long")

// readLine reads up to a line break, which is not in the result. At the end, what
// stands behind the last one comes with io.EOF.
func readLine(r *bufio.Reader) ([]byte, error) {
	var all []byte
	for {
		part, err := r.ReadSlice('\n')
		if int64(len(all))+int64(len(part)) > longest {
			return nil, errTooLong
		}
		all = append(all, part...)
		switch {
		case err == nil:
			return all[:len(all)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return all, err
		}
	}
}
