(** Van Rooyen et al., Sections 2 and 3.2: boosting has no kernel, and feature normalisation is no strength of regularisation. *)

From Simopt Require Import Spaces.
Open Scope R_scope.

(** * RMW-2-boosting: no similarity K has the classifiers that boosting outputs on three samples *)

Inductive point := X1 | X2 | X.

(** Three base classifiers, 0, 1 and all others, with values in [-1, 1]. *)
Definition base (j : nat) (p : point) : R :=
  match p, j with
  | X1, 0%nat => 4 / 5 | X1, 1%nat => 0 | X1, _ => 3 / 5
  | X2, 0%nat => 0 | X2, 1%nat => 4 / 5 | X2, _ => 3 / 5
  | X, 0%nat => 1 / 2 | X, 1%nat => 1 / 2 | X, _ => - (1 / 2)
  end.

Definition vote (c : nat -> R) (p : point) : R := c 0%nat * base 0 p + c 1%nat * base 1 p + c 2%nat * base 2 p.

(** Boosting of the points of s, all labelled 1: a round gives a step t > 0 to the base classifier with the largest |edge|. *)
Definition edge (s : list point) (c : nat -> R) (j : nat) : R := sum (map (fun p => exp (- vote c p) * base j p) s).
Definition best (s : list point) (c : nat -> R) (j : nat) : Prop :=
  (j < 3)%nat /\ forall i, (i < 3)%nat -> i <> j -> Rabs (edge s c i) < Rabs (edge s c j).
Definition voted (s : list point) (c : nat -> R) (j : nat) (t : R) : nat -> R :=
  fun i => c i + if i =? j then if Rle_dec 0 (edge s c j) then t else - t else 0.
Inductive boosted (s : list point) : (nat -> R) -> Prop :=
| first_round j t : best s (fun _ => 0) j -> 0 < t -> boosted s (voted s (fun _ => 0) j t)
| next_round c j t : boosted s c -> best s c j -> 0 < t -> boosted s (voted s c j t).

Ltac edges := unfold edge, sum; cbn [map fold_right base].
Ltac sizes := repeat (rewrite Rabs_right in * by nra).

Lemma positive_vote s c j t : 0 < edge s c j -> voted s c j t j = c j + t.
Proof. intros E. unfold voted. rewrite Nat.eqb_refl. destruct Rle_dec; lra. Qed.

Lemma other_vote s c j t i : i <> j -> voted s c j t i = c i.
Proof. intros N. unfold voted. destruct (Nat.eqb_spec i j); [easy | ring]. Qed.

(** One base classifier that is best wherever votes have gone to it alone gets all of them. *)
Lemma one_gets_all s k : (k < 3)%nat ->
  (forall c, (forall i, i <> k -> c i = 0) -> 0 < edge s c k /\ best s c k) ->
  (exists c, boosted s c) /\ forall c, boosted s c -> 0 < c k /\ forall i, i <> k -> c i = 0.
Proof.
  intros K B. assert (U : forall c j, best s c j -> best s c k -> j = k).
  { intros c j [J H] [_ H']. destruct (Nat.eq_dec j k) as [E|E]; [easy|]. specialize (H k K (not_eq_sym E)). specialize (H' j J E). lra. }
  split.
  - exists (voted s (fun _ => 0) k 1). apply first_round; [now apply B | lra].
  - intros c H. induction H as [j t H T | c j t _ [C Z] H T].
    + destruct (B (fun _ => 0)) as [E G]; [easy|]. rewrite (U _ _ H G) in *. split; [rewrite positive_vote by easy; lra|].
      intros i I. now apply other_vote.
    + destruct (B c Z) as [E G]. rewrite (U _ _ H G) in *. split; [rewrite positive_vote by easy; lra|].
      intros i I. rewrite other_vote by easy. now apply Z.
Qed.

Lemma first_sample : (exists c, boosted [X1] c) /\ forall c, boosted [X1] c -> 0 < c 0%nat /\ forall i, i <> 0%nat -> c i = 0.
Proof.
  apply one_gets_all; [lia|]. intros c _. generalize (exp_pos (- vote c X1)). intros E. split; [edges; lra|]. split; [lia|].
  intros [|[|[|i]]] I N; [easy | | | lia]; edges; sizes; lra.
Qed.

Lemma second_sample : (exists c, boosted [X2] c) /\ forall c, boosted [X2] c -> 0 < c 1%nat /\ forall i, i <> 1%nat -> c i = 0.
Proof.
  apply one_gets_all; [lia|]. intros c _. generalize (exp_pos (- vote c X2)). intros E. split; [edges; lra|]. split; [lia|].
  intros [|[|[|i]]] I N; [ | easy | | lia]; edges; sizes; lra.
Qed.

Lemma both_samples : (exists c, boosted [X1; X2] c) /\ forall c, boosted [X1; X2] c -> 0 < c 2%nat /\ forall i, i <> 2%nat -> c i = 0.
Proof.
  apply one_gets_all; [lia|]. intros c Z. generalize (exp_pos (- vote c X2)). intros E.
  assert (V : vote c X1 = vote c X2) by (unfold vote; cbn [base]; rewrite (Z 0%nat), (Z 1%nat) by easy; ring).
  split; [edges; rewrite V; lra|]. split; [lia|].
  intros [|[|[|i]]] I N; [ | | easy | lia]; edges; rewrite V; sizes; lra.
Qed.

Definition of_the_form (K : point -> point -> R) (s : list point) (c : nat -> R) : Prop :=
  exists a : point -> R, (forall p, 0 <= a p) /\ sum (map a s) = 1 /\ 0 < vote c X * sum (map (fun p => a p * K X p) s).

Theorem RMW_2_boosting_no_similarity :
  ~ exists K, forall s c, In s [[X1]; [X2]; [X1; X2]] -> boosted s c -> of_the_form K s c.
Proof.
  intros [K H].
  assert (A : 0 < K X X1).
  { destruct first_sample as [[c B] S]. destruct (H [X1] c) as [a [P [T L]]]; [simpl; auto | easy|]. destruct (S c B) as [C Z].
    unfold vote in L. rewrite (Z 1%nat), (Z 2%nat) in L by easy. unfold sum in *. cbn [map fold_right base] in *. assert (a X1 = 1) by lra. nra. }
  assert (B : 0 < K X X2).
  { destruct second_sample as [[c B] S]. destruct (H [X2] c) as [a [P [T L]]]; [simpl; auto | easy|]. destruct (S c B) as [C Z].
    unfold vote in L. rewrite (Z 0%nat), (Z 2%nat) in L by easy. unfold sum in *. cbn [map fold_right base] in *. assert (a X2 = 1) by lra. nra. }
  destruct both_samples as [[c D] S]. destruct (H [X1; X2] c) as [a [P [T L]]]; [simpl; auto | easy|]. destruct (S c D) as [C Z].
  unfold vote in L. rewrite (Z 0%nat), (Z 1%nat) in L by easy. unfold sum in *. cbn [map fold_right base] in *.
  generalize (P X1), (P X2). intros P1 P2. assert (0 <= a X1 * K X X1) by nra. assert (0 <= a X2 * K X X2) by nra. nra.
Qed.

(** * RMW-3.2-normal: the SVM on the normalised vectors is the SVM on the vectors at no strength *)

(** The SVM's objective on three orthogonal vectors y_i phi(x_i) of the lengths r, in coordinates along them. *)
Definition triple : Type := R * R * R.
Definition coordinate_risk (r lam x : R) : R := hinge (1 - r * x) / 3 + lam / 2 * x ^ 2.
Definition svm_risk (r : triple) (lam : R) (w : triple) : R :=
  match r, w with (r1, r2, r3), (w1, w2, w3) => coordinate_risk r1 lam w1 + coordinate_risk r2 lam w2 + coordinate_risk r3 lam w3 end.
Definition solves (r : triple) (lam : R) (w : triple) : Prop := forall v, svm_risk r lam w <= svm_risk r lam v.

Definition best_coordinate (r lam : R) : R := Rmin (r / (3 * lam)) (1 / r).
Definition solution (r : triple) (lam : R) : triple :=
  match r with (r1, r2, r3) => (best_coordinate r1 lam, best_coordinate r2 lam, best_coordinate r3 lam) end.

Lemma hinge_bounds x : 0 <= hinge x /\ x <= hinge x.
Proof. split; [apply Rmax_r | apply Rmax_l]. Qed.

Lemma coordinate_grows r lam x : 0 < r -> 0 < lam ->
  coordinate_risk r lam (best_coordinate r lam) + lam / 2 * (x - best_coordinate r lam) ^ 2 <= coordinate_risk r lam x.
Proof.
  intros P L. unfold coordinate_risk. set (m := best_coordinate r lam). assert (Q : r * (1 / r) = 1) by (field; lra).
  assert (S : lam * (r / (3 * lam)) = r / 3) by (field; lra). assert (A : 0 < r / (3 * lam)) by (apply Rdiv_lt_0_compat; lra).
  assert (B : 0 < 1 / r) by (apply Rdiv_lt_0_compat; lra).
  assert (M : 0 <= m /\ (r * m <= 1 /\ lam * m = r / 3 \/ r * m = 1 /\ lam * m <= r / 3)).
  { unfold m, best_coordinate, Rmin. destruct Rle_dec as [D|D]; split; try lra.
    - left. split; [rewrite <- Q; apply Rmult_le_compat_l; lra | easy].
    - right. split; [easy | rewrite <- S; apply Rmult_le_compat_l; lra]. }
  destruct M as [M0 M]. assert (H : hinge (1 - r * m) = 1 - r * m) by (unfold hinge; apply Rmax_left; destruct M; lra).
  rewrite H. destruct (hinge_bounds (1 - r * x)) as [G0 G]. set (h := hinge (1 - r * x)) in *.
  assert (I : (1 - r * m) / 3 - lam * m * (x - m) <= h / 3).
  { destruct M as [[_ E]|[E F]]; [rewrite E; lra|]. destruct (Rle_lt_dec m x) as [X|X].
    - assert (0 <= lam * m * (x - m)) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra). lra.
    - assert (lam * m * (m - x) <= r / 3 * (m - x)) by (apply Rmult_le_compat_r; lra). nra. }
  replace (lam / 2 * x ^ 2) with (lam / 2 * m ^ 2 + lam / 2 * (x - m) ^ 2 + lam * m * (x - m)) by field. lra.
Qed.

Theorem RMW_3_2_normal_solution r1 r2 r3 lam : 0 < r1 -> 0 < r2 -> 0 < r3 -> 0 < lam ->
  forall w, solves (r1, r2, r3) lam w <-> w = solution (r1, r2, r3) lam.
Proof.
  intros P1 P2 P3 L [[w1 w2] w3]. split.
  - intros H. specialize (H (solution (r1, r2, r3) lam)). cbn [svm_risk solution] in *.
    generalize (coordinate_grows r1 lam w1 P1 L), (coordinate_grows r2 lam w2 P2 L), (coordinate_grows r3 lam w3 P3 L). intros A B C.
    set (m1 := best_coordinate r1 lam) in *. set (m2 := best_coordinate r2 lam) in *. set (m3 := best_coordinate r3 lam) in *.
    generalize (pow2_ge_0 (w1 - m1)), (pow2_ge_0 (w2 - m2)), (pow2_ge_0 (w3 - m3)). intros A' B' C'.
    assert (E1 : (w1 - m1) ^ 2 = 0) by nra. assert (E2 : (w2 - m2) ^ 2 = 0) by nra. assert (E3 : (w3 - m3) ^ 2 = 0) by nra.
    f_equal; [f_equal|]; nra.
  - intros E [[v1 v2] v3]. rewrite E. cbn [svm_risk solution].
    generalize (coordinate_grows r1 lam v1 P1 L), (coordinate_grows r2 lam v2 P2 L), (coordinate_grows r3 lam v3 P3 L). intros A B C.
    generalize (pow2_ge_0 (v1 - best_coordinate r1 lam)), (pow2_ge_0 (v2 - best_coordinate r2 lam)), (pow2_ge_0 (v3 - best_coordinate r3 lam)).
    intros. nra.
Qed.

Definition multiple (k : R) (w : triple) : triple := match w with (w1, w2, w3) => (k * w1, k * w2, k * w3) end.

Theorem RMW_3_2_normal_no_strength :
  ~ exists lam, 0 < lam /\ exists w v k, solves (1, 1 / 2, 1 / 4) lam w /\ solves (1, 1, 1) 1 v /\ 0 < k /\ w = multiple k v.
Proof.
  intros [lam [L [w [v [k [W [V [K E]]]]]]]]. apply RMW_3_2_normal_solution in W; try lra. apply RMW_3_2_normal_solution in V; try lra.
  subst w v. unfold solution, multiple, best_coordinate in E. injection E as E1 E2 E3.
  assert (U : 0 < 1 / (3 * lam)) by (apply Rdiv_lt_0_compat; lra).
  replace (1 / 2 / (3 * lam)) with (1 / (3 * lam) / 2) in E2 by (field; lra).
  replace (1 / 4 / (3 * lam)) with (1 / (3 * lam) / 4) in E3 by (field; lra).
  replace (1 / (1 / 2)) with 2 in E2 by field. replace (1 / (1 / 4)) with 4 in E3 by field. replace (1 / 1) with 1 in * by field.
  replace (1 / (3 * 1)) with (1 / 3) in * by field.
  set (u := 1 / (3 * lam)) in *. unfold Rmin in *. repeat destruct Rle_dec; lra.
Qed.
