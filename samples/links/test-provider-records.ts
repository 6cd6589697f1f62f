/** The records of one kind of the test provider, in memory. */
import type { Adapter, AdapterPayload } from "oidc-provider";

export class TestRecords implements Adapter {
  private readonly records = new Map<string, AdapterPayload>();

  upsert(id: string, payload: AdapterPayload) {
    this.records.set(id, payload);
    return Promise.resolve(undefined);
  }

  find(id: string) {
    return Promise.resolve(this.records.get(id));
  }

  findByUid(uid: string) {
    return this.findBy((record) => record.uid === uid);
  }

  findByUserCode(userCode: string) {
    return this.findBy((record) => record.userCode === userCode);
  }

  consume(id: string) {
    const record = this.records.get(id);
    if (record !== undefined) record.consumed = Date.now() / 1000;
    return Promise.resolve(undefined);
  }

  destroy(id: string) {
    this.records.delete(id);
    return Promise.resolve(undefined);
  }

  revokeByGrantId(grantId: string) {
    for (const [id, record] of this.records) if (record.grantId === grantId) this.records.delete(id);
    return Promise.resolve(undefined);
  }

  private findBy(isWanted: (record: AdapterPayload) => boolean) {
    return Promise.resolve([...this.records.values()].find(isWanted));
  }
}
