package cmd_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"

	_ "modernc.org/sqlite" // the driver that docker agent uses
)

// holder is the runtime: it runs SQL statements on a database, says so, and
// keeps its connection until its input ends. Then it dies without closing it.
func holder() {
	db, err := sql.Open("sqlite", "file:"+os.Args[1])
	if err != nil {
		panic(err)
	}
	conn, err := db.Conn(context.Background())
	for _, statement := range os.Args[2:] {
		if err == nil {
			_, err = conn.ExecContext(context.Background(), statement)
		}
	}
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}
