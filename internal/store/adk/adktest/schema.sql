-- The tables of each generation: see Generation. Those of adk-go and adk-js are as their
-- libraries wrote them, byte by byte.

--- python are the tables that adk-python has beside that of events
CREATE TABLE sessions (app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, id VARCHAR(128) NOT NULL, state TEXT NOT NULL, create_time DATETIME NOT NULL, update_time DATETIME NOT NULL, PRIMARY KEY (app_name, user_id, id));
CREATE TABLE app_states (app_name VARCHAR(128) NOT NULL, state TEXT NOT NULL, update_time DATETIME NOT NULL, PRIMARY KEY (app_name));
CREATE TABLE user_states (app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, state TEXT NOT NULL, update_time DATETIME NOT NULL, PRIMARY KEY (app_name, user_id));

--- index is adk-python's since 1.19
CREATE INDEX idx_events_app_user_session_ts ON events (app_name, user_id, session_id, timestamp DESC);

--- P0-first
CREATE TABLE events (id VARCHAR(128) NOT NULL, app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, session_id VARCHAR(128) NOT NULL, invocation_id VARCHAR(256) NOT NULL, author VARCHAR(256) NOT NULL, branch VARCHAR(256), timestamp DATETIME NOT NULL, content TEXT NOT NULL, actions BLOB NOT NULL, PRIMARY KEY (id, app_name, user_id, session_id), FOREIGN KEY(app_name, user_id, session_id) REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);

--- P0
CREATE TABLE events (id VARCHAR(128) NOT NULL, app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, session_id VARCHAR(128) NOT NULL, invocation_id VARCHAR(256) NOT NULL, author VARCHAR(256) NOT NULL, branch VARCHAR(256), timestamp DATETIME NOT NULL, content TEXT, actions BLOB NOT NULL, long_running_tool_ids_json TEXT, grounding_metadata TEXT, custom_metadata TEXT, usage_metadata TEXT, citation_metadata TEXT, partial BOOLEAN, turn_complete BOOLEAN, error_code VARCHAR(256), error_message TEXT, interrupted BOOLEAN, input_transcription TEXT, output_transcription TEXT, PRIMARY KEY (id, app_name, user_id, session_id), FOREIGN KEY(app_name, user_id, session_id) REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);

--- P1
CREATE TABLE adk_internal_metadata ("key" VARCHAR(128) NOT NULL, value VARCHAR(256) NOT NULL, PRIMARY KEY ("key"));
INSERT INTO adk_internal_metadata VALUES ('schema_version', '1');
CREATE TABLE events (id VARCHAR(128) NOT NULL, app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, session_id VARCHAR(128) NOT NULL, invocation_id VARCHAR(256) NOT NULL, timestamp DATETIME NOT NULL, event_data TEXT, PRIMARY KEY (id, app_name, user_id, session_id), FOREIGN KEY(app_name, user_id, session_id) REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);

--- PS
CREATE TABLE app_states (app_name TEXT PRIMARY KEY, state TEXT NOT NULL, update_time REAL NOT NULL);
CREATE TABLE user_states (app_name TEXT NOT NULL, user_id TEXT NOT NULL, state TEXT NOT NULL, update_time REAL NOT NULL, PRIMARY KEY (app_name, user_id));
CREATE TABLE sessions (app_name TEXT NOT NULL, user_id TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, create_time REAL NOT NULL, update_time REAL NOT NULL, PRIMARY KEY (app_name, user_id, id));
CREATE TABLE events (id TEXT NOT NULL, app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL, invocation_id TEXT NOT NULL, timestamp REAL NOT NULL, event_data TEXT NOT NULL, PRIMARY KEY (app_name, user_id, session_id, id), FOREIGN KEY (app_name, user_id, session_id) REFERENCES sessions(app_name, user_id, id) ON DELETE CASCADE);

--- J1
create table `adk_internal_metadata` (`key` text not null, `value` text not null, primary key (`key`));
insert into adk_internal_metadata values ('schema_version', '1');
create table `app_states` (`app_name` text not null, `state` json not null, `update_time` datetime not null, primary key (`app_name`));
create table `user_states` (`app_name` text not null, `user_id` text not null, `state` json not null, `update_time` datetime not null, primary key (`app_name`, `user_id`));
create table `sessions` (`id` text not null, `app_name` text not null, `user_id` text not null, `state` json not null, `create_time` datetime not null, `update_time` datetime not null, primary key (`id`, `app_name`, `user_id`));
create table `events` (`id` text not null, `app_name` text not null, `user_id` text not null, `session_id` text not null, `invocation_id` text not null, `timestamp` datetime not null, `event_data` json not null, primary key (`id`, `app_name`, `user_id`, `session_id`));

--- go are the tables that adk-go has beside that of events
CREATE TABLE `sessions` (`app_name` text,`user_id` text,`id` text,`state` text,`create_time` datetime,`update_time` datetime,PRIMARY KEY (`app_name`,`user_id`,`id`));
CREATE TABLE `app_states` (`app_name` text,`state` text,`update_time` datetime,PRIMARY KEY (`app_name`));
CREATE TABLE `user_states` (`app_name` text,`user_id` text,`state` text,`update_time` datetime,PRIMARY KEY (`app_name`,`user_id`));

--- G1
CREATE TABLE `events` (`id` text,`app_name` text,`user_id` text,`session_id` text,`invocation_id` text,`author` text,`actions` blob,`long_running_tool_ids_json` text,`branch` text,`timestamp` datetime,`content` text,`grounding_metadata` text,`custom_metadata` text,`usage_metadata` text,`citation_metadata` text,`partial` numeric,`turn_complete` numeric,`error_code` text,`error_message` text,`interrupted` numeric,PRIMARY KEY (`id`,`app_name`,`user_id`,`session_id`),CONSTRAINT `fk_sessions_events` FOREIGN KEY (`app_name`,`user_id`,`session_id`) REFERENCES `sessions`(`app_name`,`user_id`,`id`) ON DELETE CASCADE);

--- G2
CREATE TABLE `events` (`id` text,`app_name` text,`user_id` text,`session_id` text,`invocation_id` text,`author` text,`actions` blob,`long_running_tool_ids_json` text,`routes_json` text,`output_json` text,`node_info_json` text,`requested_input_json` text,`branch` text,`isolation_scope` text,`timestamp` datetime,`content` text,`grounding_metadata` text,`custom_metadata` text,`usage_metadata` text,`citation_metadata` text,`partial` numeric,`turn_complete` numeric,`error_code` text,`error_message` text,`interrupted` numeric,PRIMARY KEY (`id`,`app_name`,`user_id`,`session_id`),CONSTRAINT `fk_sessions_events` FOREIGN KEY (`app_name`,`user_id`,`session_id`) REFERENCES `sessions`(`app_name`,`user_id`,`id`) ON DELETE CASCADE);

--- K1 is as Room makes it of the entities of adk-kotlin
CREATE TABLE android_metadata (locale TEXT);
INSERT INTO android_metadata VALUES ('en_US');
CREATE TABLE `StorageSession` (`appName` TEXT NOT NULL, `userId` TEXT NOT NULL, `id` TEXT NOT NULL, `state` TEXT NOT NULL, `createTime` INTEGER NOT NULL, `updateTime` INTEGER NOT NULL, PRIMARY KEY(`appName`, `userId`, `id`));
CREATE INDEX `index_StorageSession_appName_userId_updateTime` ON `StorageSession` (`appName`, `userId`, `updateTime`);
CREATE TABLE `StorageEvent` (`id` TEXT NOT NULL, `appName` TEXT NOT NULL, `userId` TEXT NOT NULL, `sessionId` TEXT NOT NULL, `invocationId` TEXT, `timestamp` INTEGER NOT NULL, `eventData` TEXT NOT NULL, PRIMARY KEY(`id`, `appName`, `userId`, `sessionId`), FOREIGN KEY(`appName`, `userId`, `sessionId`) REFERENCES `StorageSession`(`appName`, `userId`, `id`) ON UPDATE NO ACTION ON DELETE CASCADE );
CREATE INDEX `index_StorageEvent_appName_userId_sessionId_timestamp` ON `StorageEvent` (`appName` ASC, `userId` ASC, `sessionId` ASC, `timestamp` DESC);
CREATE TABLE `StorageAppState` (`appName` TEXT NOT NULL, `state` TEXT NOT NULL, `updateTime` INTEGER NOT NULL, PRIMARY KEY(`appName`));
CREATE TABLE `StorageUserState` (`appName` TEXT NOT NULL, `userId` TEXT NOT NULL, `state` TEXT NOT NULL, `updateTime` INTEGER NOT NULL, PRIMARY KEY(`appName`, `userId`));
CREATE TABLE room_master_table (id INTEGER PRIMARY KEY,identity_hash TEXT);
INSERT INTO room_master_table (id,identity_hash) VALUES(42, '89e2e9e562254c731d96428451c85d4b');
